/** The container engine as a server that runs need: /readyz and the agent's notices say when it is away. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { Peer } from "@trainyard/runtime";
import type { EngineKind } from "../core/container-body.ts";
import { limits } from "../limits.ts";
import { engineAt, inTime, problemOf } from "./engine.ts";

export class EngineWatch {
  readonly kind: EngineKind;
  readonly #socket: string;
  readonly #clock: Clock;
  #failing: { readonly sinceMs: number; readonly atMs: number } | null = null;
  /** An engine that has never answered is away at once. */
  #hasAnswered = false;

  constructor(kind: EngineKind, socket: string, clock: Clock) {
    this.kind = kind;
    this.#socket = socket;
    this.#clock = clock;
  }

  get peer(): Peer {
    const name = `the container engine ${this.kind}`;
    return { name, link: "engine", everyMs: limits.engineLookMs, answers: () => this.#answers() };
  }

  /** A sentence that stays the same during an outage; null for none. A restart of the engine is no outage. */
  get notice(): string | null {
    if (this.#failing === null) return null;
    const { sinceMs, atMs } = this.#failing;
    if (this.#hasAnswered && this.#clock.monotonicMs() - atMs < limits.engineNoticedMs) return null;
    const since = new Date(sinceMs).toISOString().slice(0, 19).replace("T", " ");
    return `the container engine ${this.kind} at ${this.#socket} has not answered since ${since} UTC: no run starts here, and runs in containers continue`;
  }

  async #answers(): Promise<void> {
    const begun = { sinceMs: this.#clock.nowMs(), atMs: this.#clock.monotonicMs() };
    try {
      await inTime(engineAt(this.#socket).ping(), limits.engineAnswerMs);
      this.#hasAnswered = true;
      this.#failing = null;
    } catch (error) {
      this.#failing ??= begun;
      const why = problemOf(error, this.#socket);
      throw new Fault("engine_away", why, { retry: "later", cause: error });
    }
  }
}
