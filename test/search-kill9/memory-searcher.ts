/** The searcher over a log and a bus in memory, in virtual time; it can die at any of its calls to the log. */
import type { Bus } from "@trainyard/bus";
import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { deriveCommitId, type EventLog } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { encodeRequest } from "@trainyard/runtime";
import { exampleOf } from "@trainyard/search/testing";
import { inlineModel } from "@trainyard/service-searcher/inline-model";
import { beginTerm } from "@trainyard/service-searcher/leader";
import { atRest, ManualClock } from "@trainyard/testing";
import { Process } from "../sim/process.ts";
import { startRelay } from "../sim/relay.ts";
import { decidedOn, type Input, type Sequence, type Step, tell } from "./sequence.ts";
import { Trainer } from "./trainer.ts";

/** A call of the searcher to the log, counted from 1, at which it dies, before or after the call's effect. */
export type Death = { readonly call: number; readonly moment: "before" | "after" };

const patienceMs = 120_000;
const restartMs = 200;
const answerMs = 2_000;

export class MemorySearcher {
  readonly #clock = new ManualClock();
  readonly #memory: MemoryLog;
  readonly #log: EventLog;
  readonly #client: Bus;
  readonly #experiment: string;
  #done = 0;
  #steps = 0;
  /** The number of calls to the log so far. */
  calls = 0;
  deaths = 0;

  private constructor(memory: MemoryLog, client: Bus, experiment: string, clock: ManualClock) {
    this.#memory = memory;
    this.#log = memory.as("others");
    this.#client = client;
    this.#experiment = experiment;
    this.#clock = clock;
  }

  static async start(experiment: string, death: Death | null): Promise<MemorySearcher> {
    const clock = new ManualClock();
    const memory = createMemoryLog({ clock });
    const hub = createMemoryBus({ clock });
    startRelay(memory, hub, clock);
    const searcher = new MemorySearcher(memory, hub.connect("client"), experiment, clock);
    const telemetry = {
      count: ({ position }: { readonly position: number }) => {
        searcher.#done = Math.max(searcher.#done, position);
      },
      suggestionTook() {},
      parked() {},
    };
    const process = new Process(
      "searcher",
      1,
      {
        clock,
        log: memory.as("searcher"),
        hub,
        restartMs: () => restartMs,
        troubles: (_, moment) => searcher.#meet(death, moment),
      },
      ({ clock: time, logger }) =>
        beginTerm({ clock: time, logger, telemetry, model: inlineModel }),
    );
    process.start();
    return searcher;
  }

  #meet(death: Death | null, moment: "before" | "after"): { readonly kind: "death" } | null {
    if (moment === "before") this.calls += 1;
    if (death === null || this.deaths > 0) return null;
    if (this.calls < death.call || moment !== death.moment) return null;
    this.deaths += 1;
    return { kind: "death" };
  }

  /** Sends the input, and waits until the search has reached the version, or without one until it is idle. */
  async take(input: Input, version?: number): Promise<void> {
    this.#steps += 1;
    if (input.kind === "told") await tell(this.#log, input.told);
    else await this.#post(input);
    const isSo = (): boolean => version === undefined || this.version >= version;
    await this.#until(() => isSo() && this.#done >= this.#memory.store.head);
  }

  async #post({ operations }: Extract<Input, { kind: "posted" }>): Promise<void> {
    const commitId = deriveCommitId("kill9", "post", this.#experiment, String(this.#steps));
    const headers = { commitId, authid: "", traceparent: "", correlationid: "" };
    const body = encodeRequest("searcher", "PostSearchOperations", {
      experiment: this.#experiment,
      operations: [...operations],
    });
    let answered = false;
    const ask = async (): Promise<void> => {
      while (!answered) {
        const reply = await this.#client
          .request("searcher", "PostSearchOperations", { headers, body }, answerMs)
          .catch(() => null);
        if (reply?.kind === "rejected") {
          throw new Error("the searcher refuses an operation of the search's client");
        }
        answered = reply?.kind === "ok";
        if (!answered) await new Promise<void>((resolve) => void this.#clock.timer(100, resolve));
      }
    };
    void ask();
    await this.#until(() => answered);
  }

  async #until(isSo: () => boolean): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    for (;;) {
      await atRest();
      const { head } = this.#memory.store;
      if (isSo()) {
        // A model's answer arrives after all other events.
        await atRest();
        if (isSo() && head === this.#memory.store.head) return;
      }
      if (this.#clock.monotonicMs() - startMs > patienceMs) {
        throw new Error(`search ${this.#experiment} stalls at version ${this.version}`);
      }
      await this.#clock.step();
    }
  }

  get version(): number {
    return this.#memory.store.version(`search-${this.#experiment}`);
  }

  events(): readonly AnyEvent[] {
    return this.#memory.store.stream(`search-${this.#experiment}`).map(decodeEvent);
  }

  decided(): Promise<readonly string[]> {
    return decidedOn(this.#log, this.#experiment);
  }
}

/** Records the sequence of a method, with a limit of steps, and the number of calls to the log without a death. */
export async function recorded(
  method: string,
  experiment: string,
  seed: number,
  stepsMax: number,
): Promise<{ readonly sequence: Sequence; readonly calls: number }> {
  const searcher = await MemorySearcher.start(experiment, null);
  const trainer = new Trainer(exampleOf(method), experiment, seed);
  const steps: Step[] = [];
  const take = async (input: Input): Promise<void> => {
    await searcher.take(input);
    steps.push({ input, version: searcher.version });
    trainer.see(searcher.events());
  };
  await take(trainer.created());
  for (let input = trainer.next(); input !== null; input = trainer.next()) {
    if (steps.length >= stepsMax) break;
    await take(input);
  }
  if (trainer.next() !== null) await take(trainer.stopped());
  const decided = await searcher.decided();
  return { sequence: { method, experiment, steps, decided }, calls: searcher.calls };
}

/** Replays the sequence with a death: returns the decisions, and whether the searcher died. */
export async function replayed(
  { experiment, steps }: Sequence,
  death: Death,
): Promise<{ readonly decided: readonly string[]; readonly died: boolean }> {
  const searcher = await MemorySearcher.start(experiment, death);
  for (const { input, version } of steps) await searcher.take(input, version);
  return { decided: await searcher.decided(), died: searcher.deaths > 0 };
}
