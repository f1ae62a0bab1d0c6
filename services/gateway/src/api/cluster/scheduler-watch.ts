/**
 * Knows whether the scheduler answers, so that a list of what it decides says how old its states are. It asks when a
 * list is read, unless it has asked shortly before.
 */
import type { Bus } from "@trainyard/bus";
import { type Clock, isFault } from "@trainyard/kernel";
import { encodeRequest } from "@trainyard/runtime";
import { apiLimits } from "../limits.ts";

const headers = { commitId: "", authid: "", traceparent: "", correlationid: "" };

export class SchedulerWatch {
  readonly #bus: Bus;
  readonly #clock: Clock;
  #answeredAtMs = 0;
  #asked: { readonly answers: Promise<boolean>; readonly atMs: number } | null = null;

  constructor({ bus, clock }: { readonly bus: Bus; readonly clock: Clock }) {
    this.#bus = bus;
    this.#clock = clock;
  }

  /** Returns the field of an answer: when the scheduler last answered, if it does not answer now. */
  async age(): Promise<{ readonly schedulerAnsweredAtMs?: number }> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#asked === null || nowMs - this.#asked.atMs > apiLimits.schedulerTrustedMs) {
      this.#asked = { answers: this.#ask(), atMs: nowMs };
    }
    return (await this.#asked.answers) ? {} : { schedulerAnsweredAtMs: this.#answeredAtMs };
  }

  async #ask(): Promise<boolean> {
    const body = encodeRequest("scheduler", "GetPoolCapacity", { pool: "" });
    const { schedulerAnswersMs } = apiLimits;
    try {
      const request = { headers, body };
      const reply = await this.#bus.request(
        "scheduler",
        "GetPoolCapacity",
        request,
        schedulerAnswersMs,
      );
      if (reply.kind === "unavailable") return false;
    } catch (error) {
      if (isFault(error) && error.retry !== "never") return false;
      throw error;
    }
    this.#answeredAtMs = this.#clock.nowMs();
    return true;
  }
}
