import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { FallbackState } from "./fallback-state.ts";
import { rateLimits } from "./limits.ts";
import { MemoryState } from "./memory-state.ts";
import type { Taken } from "./token-bucket.ts";

const rate = { perSecond: 1, burst: 10 };
const { redisAnswerMs, redisRetryMs } = rateLimits;

function stage() {
  const clock = new ManualClock();
  /** The unanswered calls of the shared state. */
  const asked: PromiseWithResolvers<Taken>[] = [];
  const said: string[] = [];
  const shared = {
    take: () => {
      const call = Promise.withResolvers<Taken>();
      asked.push(call);
      return call.promise;
    },
    get: async () => Uint8Array.of(1),
    put: async () => {},
  };
  const state = new FallbackState({
    ...{ shared, own: new MemoryState(clock), clock },
    away: (error) => said.push(`away: ${(error as Error).message}`),
    back: () => said.push("back"),
  });
  const answer = (taken: Taken): void => asked.shift()?.resolve(taken);
  return { clock, asked, said, state, answer };
}

const shared: Taken = { isTaken: true, fullInMicros: 3_000_000 };
const own: Taken = { isTaken: true, fullInMicros: 1_000_000 };

test("a call gets the answer of the shared state", async () => {
  const { state, answer, said } = stage();
  const taken = state.take("a", rate);
  answer(shared);
  expect([await taken, said]).toEqual([shared, []]);
});

test("a call waits for the shared state no longer than its limit, and the next ones not at all", async () => {
  const { clock, state, asked, said } = stage();
  const taken = [state.take("a", rate), state.take("b", rate)];
  await clock.advance(redisAnswerMs);
  expect(await Promise.all(taken)).toEqual([own, own]);
  expect(await state.take("c", rate)).toEqual(own);
  expect(asked).toHaveLength(2);
  expect(said).toEqual([`away: no answer within ${redisAnswerMs} ms`]);
});

test("an answer that was there in time counts, although this process was busy", async () => {
  const { clock, state, answer, said } = stage();
  const taken = state.take("a", rate);
  clock.skip(10 * redisAnswerMs);
  // The first timer is late, and the answer is read after it.
  await clock.step(clock.monotonicMs());
  answer(shared);
  await clock.advance(0);
  expect([await taken, said]).toEqual([shared, []]);
});

test("a failed call is answered by the own state at once", async () => {
  const { state, asked, said } = stage();
  const taken = state.take("a", rate);
  asked.shift()?.reject(new Error("WRONGPASS"));
  expect([await taken, said]).toEqual([own, ["away: WRONGPASS"]]);
});

test("one call at a time asks a state that was away, without waiting for it, until one is answered in time", async () => {
  const { clock, state, asked, answer, said } = stage();
  state.fail(new Error("refused"));
  state.fail(new Error("refused"));
  await clock.advance(redisRetryMs);
  expect(await state.take("a", rate)).toEqual(own);
  expect(await state.take("b", rate)).toEqual(own);
  expect(asked).toHaveLength(1);
  await clock.advance(redisAnswerMs);
  await clock.advance(redisRetryMs - 1);
  await state.take("c", rate);
  expect(asked).toHaveLength(1);
  asked.length = 0;
  await clock.advance(1);
  expect(await state.take("d", rate)).toEqual(own);
  answer(shared);
  await clock.advance(0);
  expect(said).toEqual(["away: refused", "back"]);
  const taken = state.take("a", rate);
  answer(shared);
  expect(await taken).toEqual(shared);
});

test("bytes are put into the own state, and read from it, only while the shared one is away", async () => {
  const { state } = stage();
  await state.put("a", Uint8Array.of(2), 60_000);
  expect(await state.get("a")).toEqual(Uint8Array.of(1));
  state.fail(new Error("refused"));
  expect(await state.get("a")).toBeNull();
  await state.put("a", Uint8Array.of(2), 60_000);
  expect(await state.get("a")).toEqual(Uint8Array.of(2));
});
