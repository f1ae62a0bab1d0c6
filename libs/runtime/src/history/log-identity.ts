import type { EventLog, SeenEvent } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { eventAt } from "./event-cursor.ts";

/** The name and the events of a log, for comparisons with the markers of storages. */
export class LogIdentity {
  readonly #log: Pick<EventLog, "head" | "readAll">;
  /** The first event never changes, except with the log itself, which ends the term. */
  #id = "";

  constructor(log: Pick<EventLog, "head" | "readAll">) {
    this.#log = log;
  }

  async id(): Promise<string> {
    if (this.#id === "") this.#id = (await eventAt(this.#log, 1))?.id ?? "";
    return this.#id;
  }

  async latest(): Promise<SeenEvent> {
    const event = await eventAt(this.#log, await this.#log.head());
    if (event !== null) return event;
    throw new Fault("log_empty", "the log has no event yet", { retry: "later" });
  }

  async has({ position, id }: SeenEvent): Promise<boolean> {
    return (await eventAt(this.#log, position))?.id === id;
  }
}
