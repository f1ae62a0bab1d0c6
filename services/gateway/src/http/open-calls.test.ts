import { createLogger } from "@trainyard/runtime";
import { atRest, ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { nobody, type UserCaller } from "./caller.ts";
import { httpLimits } from "./limits.ts";
import { OpenCalls } from "./open-calls.ts";
import { Problem } from "./problem.ts";

const caller = (token: string, more: Partial<UserCaller> = {}): UserCaller => ({
  ...nobody,
  ...{ authid: "ada", owner: "ada", user: "local", token },
  ...more,
});
const inSession = (digest: string) =>
  caller("t", { session: { digest, token: "t", user: "", expiresAtMs: 0 } });

const signedIn = (user: string, digest: string) =>
  caller("", { user, session: { digest, token: "", user, expiresAtMs: 0 } });

/** Simulated tokens and sessions, by which calls are admitted. */
class Door {
  readonly clock = new ManualClock();
  readonly revoked = new Set<string>();
  readonly endedSessions = new Set<string>();
  readonly disabled = new Set<string>();
  readonly calls = new OpenCalls({
    clock: this.clock,
    token: async (id) => ({
      ...{ id, label: "", owner: "ada", secretDigest: "", ancestors: [], createdAtMs: 0 },
      ...{ expiresAtMs: undefined, limits: [], revoked: this.revoked.has(id) },
    }),
    requireEnabled: async (user) => {
      if (this.disabled.has(user)) throw new Problem(401, "user_disabled", "");
    },
    sessions: {
      touch: async (digests) => this.touch(digests),
      stillOpen: async (digests) => this.touch(digests),
    },
  });
  touch = (digests: readonly string[]): ReadonlySet<string> =>
    new Set(digests.filter((digest) => !this.endedSessions.has(digest)));

  /** Waits until one check of all streams is done; by default the one at which sessions count as used. */
  async look(afterMs: number = httpLimits.openCallsMs): Promise<void> {
    const stop = new AbortController();
    const running = this.calls.run(createLogger("gateway", "silent"), stop.signal);
    await this.clock.advance(afterMs);
    await atRest();
    stop.abort();
    await this.clock.advance(0);
    await running;
  }
}

test("a revoked token ends its streams, and no stream of another token of the same user", async () => {
  const { calls } = new Door();
  const [one, two] = [await calls.open(caller("t1")), await calls.open(caller("t2"))];
  calls.observed({ type: "trainyard.token.issued.v1", stream: "token-t2" });
  calls.observed({ type: "TokenRevoked", stream: "token-t1" });
  expect([one.signal.aborted, two.signal.aborted]).toEqual([true, false]);
});

test("a revoked token ends the streams of the tokens that it created", async () => {
  const { calls } = new Door();
  const heir = await calls.open(caller("t2", { ancestors: ["t1", "t0"] }));
  calls.observed({ type: "TokenRevoked", stream: "token-t0" });
  expect(heir.signal.aborted).toBe(true);
});

test("a closed stream is forgotten", async () => {
  const { calls } = new Door();
  const one = await calls.open(caller("t1"));
  one[Symbol.dispose]();
  calls.observed({ type: "TokenRevoked", stream: "token-t1" });
  expect(one.signal.aborted).toBe(false);
});

test("no stream opens for a token or a session that ended while the request's body arrived", async () => {
  const door = new Door();
  door.revoked.add("t1");
  door.endedSessions.add("ended");
  await expect(door.calls.open(caller("t1"))).rejects.toMatchObject({ code: "token_revoked" });
  await expect(door.calls.open(inSession("ended"))).rejects.toMatchObject({
    code: "session_ended",
  });
  await door.calls.open(inSession("open"));
});

test("a missed revocation ends the streams of the token and its sessions at the next check", async () => {
  const door = new Door();
  const one = await door.calls.open(caller("t1"));
  const [two, three] = [
    await door.calls.open(caller("t2")),
    await door.calls.open(inSession("open")),
  ];
  door.revoked.add("t1").add("t");
  await door.look();
  expect([one, two, three].map(({ signal }) => signal.aborted)).toEqual([true, false, true]);
});

test("a session that another replica ended, and an expired token, end their streams within a second", async () => {
  const door = new Door();
  const ended = await door.calls.open(inSession("ended"));
  const { clock } = door;
  const expires = await door.calls.open(caller("t1", { tokenExpiresAtMs: clock.nowMs() + 1 }));
  door.endedSessions.add("ended");
  await door.look(1_000);
  expect([ended, expires].map(({ signal }) => signal.aborted)).toEqual([true, true]);
});

test("an expired token, and a session that another replica ended, end their streams at the next check", async () => {
  const door = new Door();
  const { calls, clock } = door;
  const expires = await calls.open(caller("t1", { tokenExpiresAtMs: clock.nowMs() + 1 }));
  const [ended, lives] = [
    await calls.open(inSession("ended")),
    await calls.open(inSession("lives")),
  ];
  const later: Promise<Awaited<ReturnType<OpenCalls["open"]>>>[] = [];
  door.touch = (digests) => {
    if (digests.includes("new")) return new Set(digests);
    expect(digests.toSorted()).toEqual(["ended", "lives"]);
    // The stream opens during the database query, whose result does not include it.
    later.push(calls.open(inSession("new")));
    return new Set(["lives"]);
  };
  await door.look();
  const streams = [expires, ended, lives, ...(await Promise.all(later))];
  expect(streams.map(({ signal }) => signal.aborted)).toEqual([true, true, false, false]);
});

test("a disabled user's streams end at once, those of tokens and of sessions, and no new one opens", async () => {
  const door = new Door();
  const { calls } = door;
  const streams = [
    await calls.open(caller("t1", { user: "bo" })),
    await calls.open(signedIn("bo", "s1")),
    await calls.open(signedIn("ada", "s2")),
  ];
  door.disabled.add("bo");
  calls.observed({ type: "UserDisabled", stream: "user-bo" });
  expect(streams.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  await expect(calls.open(signedIn("bo", "s1"))).rejects.toMatchObject({ code: "user_disabled" });
});

test("a missed end of a user ends the streams within a second", async () => {
  const door = new Door();
  const streams = [
    await door.calls.open(signedIn("bo", "s1")),
    await door.calls.open(signedIn("ada", "s2")),
  ];
  door.disabled.add("bo");
  await door.look(1_000);
  expect(streams.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test("a person who is signed out loses the streams of the sessions that are gone, and keeps the others", async () => {
  const door = new Door();
  const { calls } = door;
  const streams = [
    await calls.open(signedIn("bo", "gone")),
    await calls.open(signedIn("bo", "kept")),
    await calls.open(caller("t1", { user: "bo" })),
  ];
  door.endedSessions.add("gone");
  calls.observed({ type: "UserSignedOut", stream: "user-bo" });
  await atRest();
  expect(streams.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
});

test("the stream of a person without a token outlives the checks", async () => {
  const door = new Door();
  const one = await door.calls.open(signedIn("ada", "s1"));
  await door.look();
  expect(one.signal.aborted).toBe(false);
});
