import type { Logger } from "../logging.ts";

/** Logs when a process becomes ready or unready, and when the reason changes; not while only its numbers change. */
export class ReadinessLines {
  readonly #logger: Logger;
  #told: string | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  now(reason: string | null, fields: Readonly<Record<string, unknown>>): void {
    const kind = reason?.replace(/\(.*?\)(?=;|$)|\d+/g, "") ?? "";
    if (kind === this.#told) return;
    this.#told = kind;
    if (reason === null) this.#logger.info(fields, "ready");
    else this.#logger.warn({ ...fields, reason }, "not_ready");
  }
}
