/**
 * The open searches that need a side loop: those with a suggestion model or a budget of time. They are folded from the
 * log and saved now and then, so that a new leader reads only the rest.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import {
  isOfThisLog,
  type Logger,
  ofAnotherHistory,
  runtimeLimits,
  withEvent,
} from "@trainyard/runtime";
import { asksForSuggestions, hasBudgetOfTime } from "@trainyard/search";
import { limits } from "../limits.ts";

/** The stream name of the snapshot, in this service's category. The fold is of no single stream. */
export const savedStream = "search-asking";
export const savedSchema = "asking-searches/1";
/** The column of the version is a 32-bit integer, so the exact position is in the text. */
const versionMax = 0x7fffffff;

type Saved = { readonly position: number; readonly ids: readonly string[] };

export const nothing: Saved = { position: 0, ids: [] };

export class SideLoopSearches {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #ids: Set<string>;
  readonly #everyEvents: number;
  #position: number;
  /** The id of the event at the position; empty if it was not read. */
  #eventId = "";
  #savedPosition: number;

  constructor(
    log: EventLog,
    logger: Logger,
    { position, ids }: Saved,
    everyEvents: number = limits.sideLoopsSavedEveryEvents,
  ) {
    this.#log = log;
    this.#logger = logger;
    this.#everyEvents = everyEvents;
    this.#ids = new Set(ids);
    this.#position = position;
    this.#savedPosition = position;
  }

  /** Opens the fold at the head of the log. It is saved each time that the log has grown by `everyEvents`. */
  static async open(
    log: EventLog,
    logger: Logger,
    everyEvents?: number,
  ): Promise<SideLoopSearches> {
    const saved = (await savedSearches(log, logger)) ?? nothing;
    const searches = new SideLoopSearches(log, logger, saved, everyEvents);
    await searches.readTo(await log.head());
    return searches;
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  async readTo(position: number): Promise<void> {
    while (this.#position < position) {
      const limit = Math.min(runtimeLimits.pageEvents, position - this.#position);
      const page = await this.#log.readAll(this.#position, limit);
      for (const stored of page) this.observe(stored);
      if (page.length === 0) return;
    }
  }

  /** Folds an event; a repeated one changes nothing. */
  observe(stored: StoredEvent): void {
    if (stored.position <= this.#position) return;
    this.#position = stored.position;
    this.#eventId = stored.id;
    const type = shortNameOf(stored.type);
    if (type === "SearchCompleted") this.#ids.delete(idOf(stored.stream));
    // A continued search may need a loop. Most do not; they are removed when they complete.
    if (type === "SearchContinued") this.#ids.add(idOf(stored.stream));
    if (type === "SearchStarted") this.#begin(stored);
  }

  #begin(stored: StoredEvent): void {
    const event = decodeEvent(stored);
    if (event.type !== "SearchStarted") return;
    const { algorithm, algorithmVersion, earlyStopping } = event.data;
    const asks = asksForSuggestions(algorithm, algorithmVersion);
    if (asks || hasBudgetOfTime(earlyStopping)) this.#ids.add(idOf(stored.stream));
  }

  /** Saves the list when the log has grown enough. A failed save only makes the next leader's start slower. */
  saveWhenDue(): void {
    if (this.#position - this.#savedPosition < this.#everyEvents) return;
    this.#savedPosition = this.#position;
    const version = Math.min(this.#position, versionMax);
    const text = JSON.stringify({ position: this.#position, ids: this.ids } satisfies Saved);
    const body = withEvent(text, this.#eventId);
    this.#log.saveSnapshot(savedStream, version, savedSchema, body).catch((error: unknown) => {
      this.#logger.warn({ err: error }, "asking_searches_not_saved");
    });
  }
}

/** Returns the saved list; null if none is saved, or if it is of another history. */
export async function savedSearches(log: EventLog, logger: Logger): Promise<Saved | null> {
  const found = await log.loadSnapshot(savedStream, savedSchema);
  if (found === null) return null;
  const { position, ids } = JSON.parse(found.body) as Saved;
  const [event] = await log.readAll(position - 1, 1);
  if (isOfThisLog(found.body, event)) return { position, ids };
  const detail = ofAnotherHistory("the searches that ask", position);
  logger.error({ position, detail }, "saved_fold_ignored");
  return null;
}
