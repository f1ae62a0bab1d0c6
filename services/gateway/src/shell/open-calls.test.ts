import { createLogger } from "@trainyard/runtime";
import { atRest, ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import type { UserCaller } from "../http/caller.ts";
import { gatewayLimits } from "../limits.ts";
import { OpenCalls } from "./open-calls.ts";

const caller = (token: string, more: Partial<UserCaller> = {}): UserCaller => ({
  ...{ kind: "user", authid: "ada", token, session: null, tokenExpiresAtMs: undefined },
  ...more,
});
const inSession = (digest: string) =>
  caller("t", { session: { digest, token: "t", expiresAtMs: 0 } });

test("a revoked token ends its own streams, and no stream of the same user's other token", () => {
  const calls = new OpenCalls();
  const [one, two] = [calls.open(caller("t1")), calls.open(caller("t2"))];
  calls.observed({ type: "trainyard.token.issued.v1", stream: "token-t2" });
  calls.observed({ type: "TokenRevoked", stream: "token-t1" });
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false]);
});

test("a stream that is closed is forgotten", () => {
  const calls = new OpenCalls();
  const one = calls.open(caller("t1"));
  one[Symbol.dispose]();
  calls.observed({ type: "TokenRevoked", stream: "token-t1" });
  expect(one.signal.aborted).toBe(false);
});

test("a token that expires and a session that another replica ended end their streams within the time of a look", async () => {
  const clock = new ManualClock();
  const calls = new OpenCalls();
  const expires = calls.open(caller("t1", { tokenExpiresAtMs: clock.nowMs() + 1 }));
  const [ended, lives] = [calls.open(inSession("ended")), calls.open(inSession("lives"))];
  const later: ReturnType<OpenCalls["open"]>[] = [];
  const stop = new AbortController();
  const sessions = {
    touch: async (digests: readonly string[]) => {
      expect(digests.toSorted()).toEqual(["ended", "lives"]);
      // Opened while the database was asked: nothing is known of it.
      later.push(calls.open(inSession("new")));
      return new Set(["lives"]);
    },
  };
  const running = calls.run(sessions, clock, createLogger("gateway", "silent"), stop.signal);
  await clock.advance(gatewayLimits.openCallsMs);
  await atRest();
  expect([expires, ended, lives, ...later].map(({ signal }) => signal.aborted)).toEqual([
    ...[true, true, false],
    false,
  ]);
  stop.abort();
  await clock.advance(0);
  await running;
});
