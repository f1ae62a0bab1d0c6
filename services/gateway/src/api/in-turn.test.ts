import { expect, test } from "vitest";
import { type Caller, nobody } from "../http/caller.ts";
import { FairQueue } from "../http/fair-queue.ts";
import { inTurn } from "./in-turn.ts";

const caller = (token: string): Caller => {
  return { ...nobody, authid: "ada", owner: "ada", user: "local", token };
};

test("requests wait by token, and one whose client leaves gives up its turn", async () => {
  const queue = new FairQueue({ max: 1, ofOneMax: 1, waitingOfOneMax: 1 });
  const { signal } = new AbortController();
  const end = Promise.withResolvers<string>();
  const running = inTurn(queue, { caller: caller("a"), signal }, () => end.promise);
  const left = new AbortController();
  const ofLeft = { caller: caller("a"), signal: left.signal };
  const waiting = inTurn(queue, ofLeft, async () => "read for nobody");
  const more = { caller: caller("a"), signal };
  await expect(inTurn(queue, more, async () => "one too many")).rejects.toMatchObject({
    status: 503,
  });
  const other = inTurn(queue, { caller: caller("b"), signal }, async () => "other");
  left.abort();
  await expect(waiting).rejects.toMatchObject({ status: 503 });
  const next = inTurn(queue, more, async () => "next");
  end.resolve("read");
  expect(await Promise.all([running, other, next])).toEqual(["read", "other", "next"]);
});
