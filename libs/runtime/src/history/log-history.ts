/**
 * Reads the log in order and detects a rewind. Positions do not show it: a log that was restored from a backup, or
 * whose server failed over with loss, may have other events at known positions, or none.
 *
 * So each page begins with the last known event, which must have the same id. This check is skipped between full pages;
 * the first page that is not full makes up for it. A mismatch throws `LogRewound` once: all folds of the log are
 * invalid, and the reader begins again with the current log.
 */
import { type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";

export type KnownEvent = { readonly position: number; readonly id: string };

/** The log lost its last events: all folds of it belong to another history. */
export class LogRewound extends Fault {
  /** The lost event. */
  readonly known: KnownEvent;

  /** `has` describes the log's content in place of the known event. */
  constructor(known: KnownEvent, has: string) {
    super(
      "log_rewound",
      `the log went back: event ${known.id || "(any)"} was read at position ${known.position}, and the log ${has}; it was restored from a backup or failed over with loss, and all state that was built from it is rebuilt`,
      { retry: "later", fields: { position: known.position } },
    );
    this.known = known;
  }
}

export class LogHistory {
  readonly #log: EventLog;
  /** The last event that was read; null before the first. Its id is empty if only its position is known. */
  #known: KnownEvent | null;
  #lastPageWasFull = false;

  constructor(log: EventLog, known: KnownEvent | null = null) {
    this.#log = log;
    this.#known = known;
  }

  get known(): KnownEvent | null {
    return this.#known;
  }

  /** Whether the last page reached the log's end. */
  get isAtEnd(): boolean {
    return !this.#lastPageWasFull;
  }

  /** Returns at most `limit` events after a position that the caller has read from this log. */
  async after(position: number, limit: number): Promise<readonly StoredEvent[]> {
    if (this.#known !== null && this.#known.position !== position) await this.confirm();
    if (this.#known?.position !== position) this.#known = { position, id: "" };
    const overlap = position > 0 && !(this.#lastPageWasFull && this.#known.id !== "") ? 1 : 0;
    const page = await this.#log.readAll(position - overlap, limit);
    this.#lastPageWasFull = isFullPage(page, limit);
    if (overlap > 0) this.#compare(page[0]);
    const events = page.slice(overlap);
    this.passed(events);
    return events;
  }

  /** Records live events that follow the known one. */
  passed(events: readonly StoredEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) this.#known = { position: last.position, id: last.id };
  }

  /** Throws LogRewound if the log lost the last event that was read. */
  async confirm(): Promise<void> {
    const { position } = this.#known ?? { position: 0 };
    if (position === 0) return;
    const [found] = await this.#log.readAll(position - 1, 1);
    this.#compare(found);
  }

  #compare(found: StoredEvent | undefined): void {
    const known = this.#known;
    if (known === null) return;
    const there = found?.position === known.position ? found : undefined;
    if (there !== undefined && (known.id === "" || known.id === there.id)) {
      this.#known = { position: known.position, id: there.id };
      return;
    }
    this.#known = null;
    this.#lastPageWasFull = false;
    const has = there === undefined ? "ends before that" : `has event ${there.id} there now`;
    throw new LogRewound(known, has);
  }
}
