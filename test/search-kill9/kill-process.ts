/**
 * One searcher process runs the searches of all methods; it is repeatedly killed with kill -9 within milliseconds of
 * new inputs, and started again. Each search must decide as it did undisturbed.
 */
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import { replaySearch, type SearchEvent } from "@trainyard/search";
import { eventually } from "../world/eventually.ts";
import { recorded } from "./memory-searcher.ts";
import { methods } from "@trainyard/search/testing";
import { RealSearcher } from "./real-searcher.ts";
import { differenceOf, type Sequence } from "./sequence.ts";

const patienceMs = 120_000;
/** The searcher processes an input within milliseconds, so a kill in this time comes before, during or after it. */
const killWithinMs = 12;

export type KilledProcess = {
  readonly kills: number;
  readonly violations: readonly string[];
  /** Searches whose model once answered too late, as on a busy machine: these were decided again instead. */
  readonly late: readonly string[];
};

export async function killProcess(
  kills: number,
  seed: number,
  stepsMax: number,
  log: (line: string) => void,
): Promise<KilledProcess> {
  const sequences: Sequence[] = [];
  for (const [index, method] of methods.entries()) {
    sequences.push((await recorded(method, String(index + 1), seed, stepsMax)).sequence);
  }
  await using searcher = await RealSearcher.start();
  const feeds = sequences.map((sequence) => new Feed(searcher, sequence));
  for (let kill = 1; kill <= kills; kill += 1) {
    for (const feed of feeds) await feed.give();
    await delay(drawInteger(seed, "kill9/after", kill, killWithinMs));
    await searcher.kill();
    searcher.begin();
    await Promise.all(feeds.map((feed) => feed.caughtUp()));
    await Promise.all(feeds.map((feed) => feed.goOn(kills - kill)));
    if (kill % 10 === 0) log(`${kill} of ${kills} kills of the process`);
  }
  await Promise.all(feeds.map((feed) => feed.goOn(0)));
  const found = await Promise.all(feeds.map((feed) => feed.difference()));
  return {
    kills,
    violations: found.flatMap((difference) => (difference === null ? [] : [difference])),
    late: feeds.flatMap(({ late, method }) => (late ? [method] : [])),
  };
}

class Feed {
  readonly #searcher: RealSearcher;
  readonly #sequence: Sequence;
  #given = 0;
  late = false;

  constructor(searcher: RealSearcher, sequence: Sequence) {
    this.#searcher = searcher;
    this.#sequence = sequence;
  }

  get method(): string {
    return this.#sequence.method;
  }

  /** Sends the next input without waiting for its effects. */
  async give(): Promise<void> {
    const { steps, experiment } = this.#sequence;
    const step = steps[this.#given];
    if (step === undefined || this.late) return;
    this.#given += 1;
    await this.#searcher.take(step.input, experiment, this.#given);
  }

  /** Waits until all effects of the sent inputs are on the log. */
  async caughtUp(): Promise<void> {
    const { steps, experiment, method } = this.#sequence;
    const version = steps[this.#given - 1]?.version ?? 0;
    await eventually(
      `the ${method} search is at version ${version}`,
      async () => {
        if (this.late || (await this.#searcher.version(experiment)) >= version) return true;
        this.late = (await this.#searcher.events(experiment)).some(
          ({ type }) => type === "SuggestionMissed",
        );
        return this.late;
      },
      patienceMs,
    );
  }

  /** Sends the inputs that belong before the next kill, one after the other. */
  async goOn(killsLeft: number): Promise<void> {
    const left = this.#sequence.steps.length - this.#given;
    const now = killsLeft === 0 ? left : Math.max(0, Math.floor(left / (killsLeft + 1)) - 1);
    for (let n = 0; n < now; n += 1) {
      await this.give();
      await this.caughtUp();
    }
  }

  async difference(): Promise<string | null> {
    const { experiment, method } = this.#sequence;
    if (!this.late) return differenceOf(this.#sequence, await this.#searcher.decided(experiment));
    const events = await this.#searcher.events(experiment);
    const { differences } = replaySearch(events as readonly SearchEvent[]);
    return differences.length === 0 ? null : `${method}: ${JSON.stringify(differences[0])}`;
  }
}
