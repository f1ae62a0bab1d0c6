import type { EventLog, SeenEvent } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";

/** The name and the events of a log, for comparisons with the markers of storages. */
export class LogIdentity {
  readonly #log: Pick<EventLog, "head" | "readAll">;
  /** The first event never changes, except with the log itself, which ends the term. */
  #id = "";

  constructor(log: Pick<EventLog, "head" | "readAll">) {
    this.#log = log;
  }

  async id(): Promise<string> {
    if (this.#id === "") this.#id = (await this.#log.readAll(0, 1))[0]?.id ?? "";
    return this.#id;
  }

  async latest(): Promise<SeenEvent> {
    const head = await this.#log.head();
    const [event] = await this.#log.readAll(Math.max(head - 1, 0), 1);
    if (event !== undefined) return { position: event.position, id: event.id };
    throw new Fault("log_empty", "the log has no event yet", { retry: "later" });
  }

  async has({ position, id }: SeenEvent): Promise<boolean> {
    const [event] = await this.#log.readAll(position - 1, 1);
    return event?.position === position && event.id === id;
  }
}
