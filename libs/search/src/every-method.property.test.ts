/** Properties of every registered search method, for any behaviour of its trials and any repeated inputs. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldedInTwo } from "./testing/folded-in-two.ts";
import type { SearchCommand } from "./commands.ts";
import type { SearchEvent } from "./events.ts";
import { exampleOf, methods } from "./testing/examples.ts";
import { replaySearch } from "./replay/replay.ts";
import { stopSentence } from "./sentences.ts";
import { encodeSearch } from "./snapshot.ts";
import { isOpen, trialOf } from "./state.ts";
import { DrivenSearch, validation } from "./testing/searches.ts";

type Step = {
  readonly pick: number;
  /** Reports at `ahead` after the trial's last time if `outcome` is null; ends the trial otherwise. */
  readonly outcome: TrialOutcome | null;
  readonly ahead: number;
  readonly value: number;
  readonly saves: boolean;
  readonly twice: boolean;
};

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    pick: fc.nat(),
    outcome: fc.option(
      fc.constantFrom(
        TrialOutcome.COMPLETED,
        TrialOutcome.FAILED,
        TrialOutcome.CANCELED,
        TrialOutcome.INVALID_HYPERPARAMETERS,
      ),
      { freq: 10 },
    ),
    ahead: fc.integer({ min: 0, max: 5 }),
    value: fc.oneof(fc.double(), fc.integer({ min: 0, max: 3 })),
    saves: fc.boolean(),
    twice: fc.boolean(),
  }),
  { maxLength: 70 },
);
const seeds = fc.nat({ max: 0xffff_ffff });
const runs = { numRuns: 8 };

class World {
  readonly search = new DrivenSearch();
  readonly #times = new Map<number, number>();
  readonly #look: (search: DrivenSearch) => void;
  readonly #custom: boolean;
  #posted = 0;

  constructor(method: string, seed: number, look: (search: DrivenSearch) => void = () => {}) {
    this.#look = look;
    this.#custom = method === "custom";
    this.#tell({ type: "StartSearch", config: exampleOf(method), seed }, 1);
  }

  #tell(command: SearchCommand, times: number): void {
    for (let left = times; left > 0; left -= 1) {
      // A custom search may reject a random operation, which changes nothing.
      if (isRejection(this.search.machine.decide(command))) return;
      this.search.send(command);
      this.#look(this.search);
    }
  }

  #open(): number[] {
    const { state } = this.search;
    return this.search
      .proposals()
      .map(({ number }) => number)
      .filter((number) => {
        const trial = trialOf(state, number);
        return trial !== undefined && isOpen(trial) && trial.wanted !== "suspended";
      });
  }

  step({ pick, outcome, ahead, value, saves, twice }: Step, duplicates: boolean): void {
    const times = twice && duplicates ? 2 : 1;
    if (this.#custom && this.#open().length < 3) this.#propose(times);
    const open = this.#open();
    const trial = open[pick % Math.max(1, open.length)];
    if (trial === undefined) return;
    if (trialOf(this.search.state, trial)?.wanted === "stopped") {
      this.#tell({ type: "RecordOutcome", trial, outcome: TrialOutcome.STOPPED_EARLY }, times);
      return;
    }
    if (outcome !== null) {
      this.#tell({ type: "RecordOutcome", trial, outcome }, times);
      return;
    }
    const step = (this.#times.get(trial) ?? 0) + ahead;
    this.#times.set(trial, step);
    this.#tell(validation(trial, step, { loss: value }), times);
    const checkpoint = `${trial}@${step}`;
    if (saves) this.#tell({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step }, times);
  }

  #propose(times: number): void {
    this.#posted += 1;
    const value = {
      hyperparameters: { lr: 0.001 * this.#posted, units: 4 + (this.#posted % 60) },
      stopAtTarget: false,
    };
    const operation = { id: `p${this.#posted}`, operation: { case: "propose" as const, value } };
    this.#tell({ type: "PostOperations", operations: [operation], restsOn: null }, times);
  }
}

function driven(
  method: string,
  seed: number,
  happening: readonly Step[],
  duplicates = true,
): World {
  const world = new World(method, seed);
  for (const step of happening) world.step(step, duplicates);
  return world;
}

/** The decisions, without the counters of received reports. */
function decisionsOf({ search }: World): unknown[] {
  return search.events
    .filter((event) => event.type !== "ObservationRecorded" || !event.data.repeat)
    .map(({ type, data }) => ({ type, data: { ...data, searchVersion: 0, evidence: undefined } }));
}

describe.each(methods)("the method %s", (method) => {
  it("proposes no more trials than its budget", () => {
    fc.assert(
      fc.property(seeds, steps, (seed, happening) => {
        const look = (search: DrivenSearch): void => {
          const { plan, outcomes } = search.state;
          const most = plan?.trialsMax ?? 0;
          const proposed = search.proposals().length;
          if (most > 0) expect(proposed).toBeLessThanOrEqual(most + outcomes.invalid);
        };
        const world = new World(method, seed, look);
        for (const step of happening) world.step(step, true);
      }),
      runs,
    );
  });

  it("promotes only trials among the best of their rung", () => {
    fc.assert(
      fc.property(seeds, steps, (seed, happening) => {
        const { search } = driven(method, seed, happening);
        for (const [at, event] of search.events.entries()) {
          if (event.type === "TrialResumed" && event.data.rule === "halving") {
            const { rank = 0, of = 0, divisor = 0 } = event.data.evidence as Record<string, number>;
            const kept = Math.max(1, Math.floor(of / divisor));
            expect(rank).toBeLessThanOrEqual(kept);
            expect(betterAtRung(search.events.slice(0, at), event)).toBeLessThan(kept);
          }
        }
      }),
      runs,
    );
  });

  it("gives each decision a sentence that its evidence completes", () => {
    fc.assert(
      fc.property(seeds, steps, (seed, happening) => {
        for (const { data } of driven(method, seed, happening).search.events) {
          if (!("rule" in data) || data.rule === "client") continue;
          const sentence = stopSentence(data.rule, data.evidence);
          expect(sentence).toMatch(/ /);
          expect(sentence).not.toMatch(/nothing|undefined/);
        }
      }),
      runs,
    );
  });

  it("decides the same for the same seed, even with repeated reports", () => {
    fc.assert(
      fc.property(seeds, steps, (seed, happening) => {
        const once = decisionsOf(driven(method, seed, happening, false));
        expect(decisionsOf(driven(method, seed, happening))).toEqual(once);
      }),
      runs,
    );
  });

  it("has, from any prefix of its events, the state of that time, and decides the rest the same", () => {
    fc.assert(
      fc.property(seeds, steps, fc.nat(), (seed, happening, cut) => {
        const { search } = driven(method, seed, happening);
        const { stored, whole } = foldedInTwo(search.events, cut);
        expect(whole.snapshot()).toBe(encodeSearch(search.state));
        expect(replaySearch(stored).differences).toEqual([]);
      }),
      runs,
    );
  });
});

/**
 * The number of other trials with a better value than the promoted trial, at the rung's time or the next one after it.
 */
function betterAtRung(
  before: readonly SearchEvent[],
  { data }: Extract<SearchEvent, { type: "TrialResumed" }>,
): number {
  const { units = 0, bracket = 0, value = 0 } = data.evidence as Record<string, number>;
  const here = new Set(
    before.flatMap((event) => {
      if (!("evidence" in event.data) || !("rung" in event.data)) return [];
      const seen = event.data.evidence as Record<string, number>;
      return seen["bracket"] === bracket && seen["units"] === units ? [event.data.trial] : [];
    }),
  );
  const first = new Map<number, number>();
  for (const event of before) {
    if (
      event.type === "TrialOutcomeRecorded" &&
      event.data.outcome === TrialOutcome.INVALID_HYPERPARAMETERS
    ) {
      // A trial with invalid hyperparameters is removed from every rung.
      here.delete(event.data.trial);
      first.delete(event.data.trial);
    }
    if (event.type !== "ObservationRecorded" || event.data.repeat) continue;
    const { trial, time, values } = event.data;
    if (time >= units && here.has(trial) && !first.has(trial)) {
      first.set(trial, values["loss"] ?? Number.NaN);
    }
  }
  return [...first].filter(([trial, other]) => trial !== data.trial && other < value).length;
}
