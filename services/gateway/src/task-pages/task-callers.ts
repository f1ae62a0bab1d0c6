/**
 * The person behind a request to a task's host. A session counts as open for a second after a look at the database, so
 * that a page with hundreds of files asks once. The requests that are still open are looked at every second: they end
 * with their session, its token, or the session of the Web UI that asked, and if the person is disabled or may not open
 * the task any more, on every replica.
 */
import { type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import {
  callerOfPerson,
  callerOfToken,
  type TokenLookup,
  type UserCaller,
} from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import { taskPageLimits } from "./limits.ts";
import type { TaskPlace, TaskSession, TaskSessions } from "./task-sessions.ts";

export type TaskCallersDeps = {
  readonly sessions: Pick<TaskSessions, "find" | "alive" | "touch">;
  readonly token: TokenLookup;
  /** Throws a Problem of 401 if the user is disabled. */
  readonly requireEnabled: (user: string) => Promise<void>;
  /** Throws a Problem if the person may not open the task any more. */
  readonly mayOpen: (task: string, caller: UserCaller) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type TaskCaller = { readonly caller: UserCaller; readonly digest: string };

type Known = TaskCaller & { readonly atMs: number };

export class TaskCallers {
  readonly #deps: TaskCallersDeps;
  readonly #known = new LRUCache<string, Known>({ max: taskPageLimits.rememberedMax });
  readonly #open = new Map<string, Set<AbortController>>();

  constructor(deps: TaskCallersDeps) {
    this.#deps = deps;
  }

  /** Returns the person. Throws a Problem of 401 if the session or its token has ended. */
  async of(place: TaskPlace, secret: string): Promise<TaskCaller> {
    const { sessions, clock } = this.#deps;
    const key = `${place.task} ${place.port} ${secret}`;
    const known = this.#known.get(key);
    if (known !== undefined && clock.monotonicMs() - known.atMs < taskPageLimits.freshMs)
      return known;
    const atMs = clock.monotonicMs();
    const session = await sessions.find(place, secret);
    if (session === null) {
      this.#known.delete(key);
      throw new Problem(401, "session_ended", "this page's session has ended: open it again");
    }
    const found = { caller: await this.#callerOf(session), digest: session.digest, atMs };
    this.#known.set(key, found);
    return found;
  }

  async #callerOf({ token, user, session, sessionEndsAtMs }: TaskSession): Promise<UserCaller> {
    const caller =
      token === "" && user !== ""
        ? callerOfPerson(user)
        : callerOfToken(await this.#deps.token(token), this.#deps.clock.nowMs());
    await this.#deps.requireEnabled(caller.user);
    if (session === null) return caller;
    const expiresAtMs = sessionEndsAtMs ?? 0;
    return { ...caller, session: { digest: session, token, user, expiresAtMs } };
  }

  /** Registers a request until it is disposed. Its signal aborts when the session or its token ends. */
  opened(digest: string): Disposable & { readonly signal: AbortSignal } {
    const ended = new AbortController();
    const open = this.#open.get(digest) ?? new Set();
    this.#open.set(digest, open.add(ended));
    return {
      signal: ended.signal,
      [Symbol.dispose]: () => {
        open.delete(ended);
        if (open.size === 0 && this.#open.get(digest) === open) this.#open.delete(digest);
      },
    };
  }

  /** Looks at the sessions of open requests until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    let touchedAtMs = clock.monotonicMs();
    while (!signal.aborted) {
      await pause(clock, taskPageLimits.freshMs, signal);
      // While the database or the read model is away, open requests continue.
      await this.#look().catch((error: unknown) =>
        logger.warn({ err: error }, "task_sessions_unchecked"),
      );
      if (clock.monotonicMs() - touchedAtMs < taskPageLimits.usedEverySeconds * 1_000) continue;
      touchedAtMs = clock.monotonicMs();
      await this.#deps.sessions.touch([...this.#open.keys()]).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const digests = [...this.#open.keys()];
    if (digests.length === 0) return;
    const alive = await this.#deps.sessions.alive(digests);
    for (const digest of digests) {
      const session = alive.get(digest);
      if (session === undefined || !(await this.#mayStay(session))) this.#end(digest);
    }
  }

  async #mayStay(session: TaskSession): Promise<boolean> {
    try {
      await this.#deps.mayOpen(session.task, await this.#callerOf(session));
      return true;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return false;
      throw error;
    }
  }

  #end(digest: string): void {
    for (const [key, known] of this.#known) if (known.digest === digest) this.#known.delete(key);
    for (const one of this.#open.get(digest) ?? []) one.abort();
  }
}
