/**
 * Reads the log in order and sees whether it is still the log that was read before. Positions alone do not say so: a
 * log that was restored from a backup, or whose server failed over with loss, has other events at positions that this
 * process knows, or none. So a page begins with the event that was read last, and that must be the same one, by its id.
 * While page after full page is read that look is left out: the first page that is not full makes up for it.
 *
 * What does not fit is a `LogRewound`, thrown once: nothing that was folded from the log may be used any more, and
 * whoever reads on begins anew with what the log has now.
 */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";

export type KnownEvent = { readonly position: number; readonly id: string };

/** The log went back: whatever was folded from it is of another history. */
export class LogRewound extends Fault {
  /** `has`: what the log has in the place of the event that is known. */
  constructor(known: KnownEvent, has: string) {
    super(
      "log_rewound",
      `the log went back: event ${known.id || "(any)"} was read at position ${known.position}, and the log ${has}; it was restored from a backup or failed over with loss, and all state that was built from it is rebuilt`,
      { retry: "later", fields: { position: known.position } },
    );
  }
}

export class LogHistory {
  readonly #log: EventLog;
  /** The event that was read last; null before the first. Its id is empty where only its position is known. */
  #known: KnownEvent | null;
  #lastPageWasFull = false;

  constructor(log: EventLog, known: KnownEvent | null = null) {
    this.#log = log;
    this.#known = known;
  }

  get known(): KnownEvent | null {
    return this.#known;
  }

  /** The log's events behind a position, which the caller has from this log; at most `limit`. */
  async after(position: number, limit: number): Promise<readonly StoredEvent[]> {
    if (this.#known !== null && this.#known.position !== position) await this.confirm();
    if (this.#known?.position !== position) this.#known = { position, id: "" };
    const overlap = position > 0 && !(this.#lastPageWasFull && this.#known.id !== "") ? 1 : 0;
    const page = await this.#log.readAll(position - overlap, limit);
    this.#lastPageWasFull = page.length === limit;
    if (overlap > 0) this.#compare(page[0]);
    const events = page.slice(overlap);
    this.passed(events);
    return events;
  }

  /** Events that came another way and follow the known one. */
  passed(events: readonly StoredEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) this.#known = { position: last.position, id: last.id };
  }

  /** Throws LogRewound where the log does not have the event any more that was read last. */
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
