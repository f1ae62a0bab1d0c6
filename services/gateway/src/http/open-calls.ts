/**
 * The open streams and downloads with their callers: each ends with the token, session or run of a task that opened it,
 * and with its user. Every replica sees revocations and disabled users in the log. Expired tokens, ended runs and ended
 * sessions of other replicas are found by a check every second. A request is authenticated by its headers, but its body
 * may arrive much later. So the caller is checked again when the stream opens, and the interval check also finds missed
 * revocations.
 */
import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { type Clock, idOf, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { type Caller, callerOfToken, type TokenLookup } from "./caller.ts";
import { httpLimits } from "./limits.ts";
import { Problem, userDisabled } from "./problem.ts";

export type OpenCall = Disposable & {
  /** Aborts when the caller's token or session has ended; with a Problem if its user was disabled. */
  readonly signal: AbortSignal;
};

type SessionUse = {
  /** Counts the open sessions with these digests as used, and returns their digests. */
  touch(digests: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns those of the sessions that are open, without counting a use. */
  stillOpen(digests: readonly string[]): Promise<ReadonlySet<string>>;
};

export type OpenCallsDeps = {
  readonly token: TokenLookup;
  /** Throws a Problem of 401 if the user is disabled. */
  readonly requireEnabled: (user: string) => Promise<void>;
  readonly sessions: SessionUse;
  readonly clock: Clock;
};

type Open = { readonly caller: Caller; readonly ended: AbortController };

export class OpenCalls {
  readonly #deps: OpenCallsDeps;
  readonly #open = new Set<Open>();

  constructor(deps: OpenCallsDeps) {
    this.#deps = deps;
  }

  /** Registers a stream until it is disposed. Throws a Problem of 401 if the caller's token or session has ended. */
  async open(caller: Caller): Promise<OpenCall> {
    const one = { caller, ended: new AbortController() };
    // The stream is registered before the check, so that a revocation in between ends it.
    this.#open.add(one);
    try {
      await this.#check(caller);
    } catch (error) {
      this.#open.delete(one);
      throw error;
    }
    return {
      signal: one.ended.signal,
      [Symbol.dispose]: () => void this.#open.delete(one),
    };
  }

  observed({ type, stream }: Pick<StoredEvent, "type" | "stream">): void {
    const name = shortNameOf(type);
    if (name === "UserDisabled") {
      return this.#end((one) => stream === `user-${userOf(one)}`, userDisabled());
    }
    if (name === "UserSignedOut") return this.#signedOut(idOf(stream));
    if (name !== "TokenRevoked") return;
    this.#end(
      ({ caller }) =>
        caller.kind === "user" &&
        [caller.token, ...caller.ancestors].some((id) => stream === `token-${id}`),
    );
  }

  /** Ends the streams of a person's sessions that are gone; while nobody can tell, the next check does. */
  #signedOut(user: string): void {
    const held = [...this.#open].filter((one) => userOf(one) === user);
    if (held.length > 0) void this.#endSessions(held, "stillOpen").catch(() => {});
  }

  sessionEnded(digest: string): void {
    this.#end((one) => sessionOf(one) === digest);
  }

  /** Checks all streams at intervals until the signal aborts. A session with an open stream counts as used. */
  async run(logger: Logger, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    let usedMs = clock.monotonicMs();
    while (!signal.aborted) {
      await pause(clock, httpLimits.openSessionsMs, signal);
      const isWhole = clock.monotonicMs() - usedMs >= httpLimits.openCallsMs;
      if (isWhole) usedMs = clock.monotonicMs();
      await (isWhole
        ? this.#look(clock.nowMs())
        : this.#lookAtSessions(clock.nowMs(), "stillOpen")
      ).catch((error: unknown) => logger.warn({ err: error }, "open_calls_unchecked"));
    }
  }

  async #check(caller: Caller): Promise<void> {
    if (caller.kind !== "user") return;
    const { token, sessions, clock } = this.#deps;
    // A person who signed in has no token.
    if (caller.token !== "" || caller.user === "") {
      callerOfToken(await token(caller.token), clock.nowMs());
    }
    await this.#deps.requireEnabled(caller.user);
    await caller.run?.asOwner();
    const digest = caller.session?.digest;
    if (digest === undefined || (await sessions.touch([digest])).has(digest)) return;
    throw new Problem(401, "session_ended", "this session has ended; sign in again");
  }

  async #look(nowMs: number): Promise<void> {
    await this.#lookAtSessions(nowMs, "touch");
    // The tokens are checked last, because the read model may be unavailable.
    for (const id of known([...this.#open].map(tokenOf))) {
      const token = await this.#deps.token(id);
      if (token === undefined || token.revoked) this.#end((one) => tokenOf(one) === id);
    }
  }

  async #lookAtSessions(nowMs: number, how: keyof SessionUse): Promise<void> {
    this.#end(
      ({ caller }) => caller.kind === "user" && (caller.tokenExpiresAtMs ?? nowMs + 1) <= nowMs,
    );
    await this.#lookAtUsers();
    await Promise.all([...this.#open].map((one) => this.#lookAtRun(one)));
    await this.#endSessions([...this.#open], how);
  }

  /** Ends those of the streams whose sessions are not open any more. */
  async #endSessions(streams: readonly Open[], how: keyof SessionUse): Promise<void> {
    const held = known(streams.map(sessionOf));
    const alive = await this.#deps.sessions[how]([...held]);
    this.#end((one) => {
      const digest = sessionOf(one);
      return digest !== undefined && held.has(digest) && !alive.has(digest);
    });
  }

  async #lookAtUsers(): Promise<void> {
    for (const user of known([...this.#open].map(userOf))) {
      await this.#deps.requireEnabled(user).catch((error: unknown) => {
        if (isRefusal(error)) this.#end((one) => userOf(one) === user, error);
      });
    }
  }

  /** Ends the stream of a task's run that may not be a user any more; while nobody can tell, the stream continues. */
  async #lookAtRun({ caller, ended }: Open): Promise<void> {
    if (caller.kind !== "user" || caller.run === null) return;
    try {
      await caller.run.asOwner();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      ended.abort();
    }
  }

  #end(isOver: (one: Open) => boolean, refusal?: Problem): void {
    for (const one of this.#open) if (isOver(one)) one.ended.abort(refusal);
  }
}

function sessionOf({ caller }: Open): string | undefined {
  return caller.kind === "user" ? caller.session?.digest : undefined;
}

/** Returns the id of the caller's token; undefined for a run, and for a person who signed in without one. */
function tokenOf({ caller }: Open): string | undefined {
  return caller.kind === "user" && caller.token !== "" ? caller.token : undefined;
}

function userOf({ caller }: Open): string | undefined {
  return caller.kind === "user" ? caller.user : undefined;
}

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.status !== 503;

function known(ids: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(ids.filter((id) => id !== undefined));
}
