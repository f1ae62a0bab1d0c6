/**
 * Whether deletions are held. After the log went back, what it says may be deleted may have been saved in the lost
 * part: so nothing is deleted until a person releases the deletions.
 *
 * The hold is in the log (`hold-deletions`), where the registry records it for the first part that notices the rewind.
 * A process that starts after a restore remembers nothing. So each look also compares the end of EVENTS with the log:
 * the relay empties a stream that the log has left behind only after the hold is recorded. The stream is read first, so
 * that one of the two looks finds the hold at any time.
 */
import type { Bus } from "@trainyard/bus";
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, isFault } from "@trainyard/kernel";
import { eventAt } from "../history/event-cursor.ts";
import type { KnownEvent } from "../history/log-history.ts";
import { streamEvents } from "../history/stream-events.ts";
import type { Logger } from "../logging.ts";
import { sendRewind } from "./rewind-reports.ts";

export const holdStream = "hold-deletions";

export type Hold = KnownEvent & {
  readonly sinceMs: number;
  readonly noticedBy: string;
  readonly detail: string;
};

/** The hold of the log, null for none, and the position of the last release; 0 before the first. */
export type RecordedHold = { readonly hold: Hold | null; readonly releasedAt: number };

/** Asked before anything is deleted. */
export interface DeletionGate {
  /** Returns why nothing may be deleted now; null if nothing holds deletions. Throws a Fault if that is unknown. */
  reason(): Promise<string | null>;
}

type DeletionHoldDeps = {
  /** The service that asks. */
  readonly name: string;
  readonly log: Pick<EventLog, "read" | "readAll">;
  readonly bus: Pick<Bus, "lastPublished" | "request">;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class DeletionHold implements DeletionGate {
  readonly #deps: DeletionHoldDeps;
  #told: string | null = null;

  constructor(deps: DeletionHoldDeps) {
    this.#deps = deps;
  }

  async reason(): Promise<string | null> {
    const reason = await this.#look();
    if (reason !== this.#told) {
      const { logger } = this.#deps;
      if (reason === null) logger.info("deletions_released");
      else logger.warn({ reason }, "deletions_held");
    }
    this.#told = reason;
    return reason;
  }

  async #look(): Promise<string | null> {
    const lost = await this.lostEnd();
    const { hold } = await recordedHold(this.#deps.log);
    if (hold !== null) return reasonOf(hold);
    if (lost === null) return null;
    try {
      await sendRewind(this.#deps, lost);
    } catch (error) {
      // The next look reports it again.
      if (!isFault(error)) throw error;
    }
    return `the log does not have event ${lost.id} at position ${lost.position}, which the relay has published: the log went back`;
  }

  /** Returns the last event of EVENTS if this log published it and does not have it; null otherwise. */
  async lostEnd(): Promise<KnownEvent | null> {
    const { bus, log } = this.#deps;
    const last = await bus.lastPublished();
    if (last === null || last.log === "") return null;
    const [there, first] = await Promise.all([eventAt(log, last.position), eventAt(log, 1)]);
    const isThere = there?.id === last.id;
    // Another log's stream says nothing about this one.
    if (isThere || first?.id !== last.log) return null;
    return { position: last.position, id: last.id };
  }
}

/** Reads the hold from the log. */
export async function recordedHold(log: Pick<EventLog, "read">): Promise<RecordedHold> {
  let hold: Hold | null = null;
  let releasedAt = 0;
  for await (const stored of streamEvents(log, holdStream)) {
    const event = decodeEvent(stored);
    if (event.type === "DeletionsHeld") {
      const { event: id, position, noticedBy, detail } = event.data;
      hold = { id, position, noticedBy, detail, sinceMs: stored.timeMs };
    } else if (event.type === "DeletionsReleased") {
      hold = null;
      releasedAt = stored.position;
    }
  }
  return { hold, releasedAt };
}

function reasonOf({ sinceMs, detail }: Hold): string {
  const since = new Date(sinceMs).toISOString();
  return `deletions are held since ${since}: ${detail}; "yard storage release" releases them`;
}
