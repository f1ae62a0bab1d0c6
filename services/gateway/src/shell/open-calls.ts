/**
 * The streams that are open, each with its caller: a stream ends with the token or the session that opened it. A revocation
 * is heard from the log, in every replica; that a token has expired, or that another replica ended a session, is looked for.
 */
import { shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import type { Caller } from "../http/caller.ts";
import { gatewayLimits } from "../limits.ts";
import type { Sessions } from "./sessions.ts";

export type OpenCall = Disposable & {
  /** Aborts when the caller is not admitted any more. */
  readonly signal: AbortSignal;
};

type Open = { readonly caller: Caller; readonly ended: AbortController };

export class OpenCalls {
  readonly #open = new Set<Open>();

  /** Knows of a stream until it is disposed. */
  open(caller: Caller): OpenCall {
    const one = { caller, ended: new AbortController() };
    this.#open.add(one);
    return {
      signal: one.ended.signal,
      [Symbol.dispose]: () => void this.#open.delete(one),
    };
  }

  observed({ type, stream }: Pick<StoredEvent, "type" | "stream">): void {
    if (shortNameOf(type) !== "TokenRevoked") return;
    this.#end(({ caller }) => caller.kind === "user" && stream === `token-${caller.token}`);
  }

  sessionEnded(digest: string): void {
    this.#end((one) => sessionOf(one) === digest);
  }

  /** Now and then until the signal aborts. A session with an open stream counts as used. */
  async run(
    sessions: Pick<Sessions, "touch">,
    clock: Clock,
    logger: Logger,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await pause(clock, gatewayLimits.openCallsMs, signal);
      await this.#look(sessions, clock.nowMs()).catch((error: unknown) =>
        logger.warn({ err: error }, "open_calls_unchecked"),
      );
    }
  }

  async #look(sessions: Pick<Sessions, "touch">, nowMs: number): Promise<void> {
    this.#end(
      ({ caller }) => caller.kind === "user" && (caller.tokenExpiresAtMs ?? nowMs + 1) <= nowMs,
    );
    const held = new Set([...this.#open].map(sessionOf).filter((digest) => digest !== undefined));
    const alive = await sessions.touch([...held]);
    this.#end((one) => {
      const digest = sessionOf(one);
      return digest !== undefined && held.has(digest) && !alive.has(digest);
    });
  }

  #end(isOver: (one: Open) => boolean): void {
    for (const one of this.#open) if (isOver(one)) one.ended.abort();
  }
}

function sessionOf({ caller }: Open): string | undefined {
  return caller.kind === "user" ? caller.session?.digest : undefined;
}
