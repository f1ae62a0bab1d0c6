/**
 * A search in virtual time: `workers` trials at a time, each of which takes what the world says, and reports one value at
 * its end. The same search, seed and world give the same history; nothing is waited for, and the only clock is the one
 * that is computed. It is the product's own decider that decides.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject, NormalisedConfig } from "@trainyard/experiment-config";
import { assert, fold, isRejection } from "@trainyard/kernel";
import type { SearchCommand } from "./commands.ts";
import { searchDecider } from "./decider.ts";
import type { SearchEvent } from "./events.ts";
import type { SearchState } from "./state.ts";

/** What becomes of a trial. `duration` > 0 is in units of the world's own; a value of null is a trial that failed. */
export type TrialResult = { readonly value: number | null; readonly duration: number };

export type World = (hyperparameters: JsonObject, trial: number) => TrialResult;

export type Simulated = {
  readonly events: readonly SearchEvent[];
  readonly state: SearchState;
  /** The trials in the order in which they ended. */
  readonly ended: readonly SimulatedTrial[];
};

export type SimulatedTrial = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  readonly value: number | null;
  readonly endedAt: number;
};

type Running = SimulatedTrial;

/** Runs a search to its end. The configuration's own concurrency and the workers both limit what runs at a time. */
export function simulate(
  config: NormalisedConfig,
  seed: number,
  workers: number,
  world: World,
): Simulated {
  assert(workers >= 1, "there is a worker");
  const search = new SimulatedSearch();
  const waiting: { readonly trial: number; readonly hyperparameters: JsonObject }[] = [];
  const running: Running[] = [];
  const ended: SimulatedTrial[] = [];
  const hear = (events: readonly SearchEvent[]): void => {
    for (const event of events) {
      if (event.type !== "TrialProposed") continue;
      const { number: trial, hyperparameters = {} } = event.data;
      waiting.push({ trial, hyperparameters });
    }
  };
  hear(search.send({ type: "StartSearch", config, seed }));
  for (let now = 0; ; ) {
    while (running.length < workers) {
      const next = waiting.shift();
      if (next === undefined) break;
      const { value, duration } = world(next.hyperparameters, next.trial);
      running.push({ ...next, value, endedAt: now + duration });
    }
    const first = firstToEnd(running);
    if (first === undefined) return { events: search.events, state: search.state, ended };
    running.splice(running.indexOf(first), 1);
    now = first.endedAt;
    ended.push(first);
    for (const command of endOf(first, config.searcher.metric)) hear(search.send(command));
  }
}

/** Of those that end at the same time the one that was proposed first. */
function firstToEnd(running: readonly Running[]): Running | undefined {
  let first: Running | undefined;
  for (const other of running) {
    const { endedAt, trial } = other;
    if (first === undefined || endedAt < first.endedAt) first = other;
    else if (endedAt === first.endedAt && trial < first.trial) first = other;
  }
  return first;
}

function endOf({ trial, value }: SimulatedTrial, metric: string): readonly SearchCommand[] {
  if (value === null) return [{ type: "RecordOutcome", trial, outcome: TrialOutcome.FAILED }];
  const measurement = `simulated-${trial}`;
  const scalars = { [metric]: value };
  return [
    { type: "RecordValidation", trial, run: 1, currentRun: 1, step: 1, scalars, measurement },
    { type: "RecordOutcome", trial, outcome: TrialOutcome.COMPLETED },
  ];
}

/** A search that is driven by commands. */
class SimulatedSearch {
  state: SearchState = searchDecider.initial;
  readonly events: SearchEvent[] = [];

  send(command: SearchCommand): readonly SearchEvent[] {
    const decided = searchDecider.decide(this.state, command);
    assert(!isRejection(decided), "a simulated search takes what it is told");
    this.state = fold(searchDecider.evolve, this.state, decided);
    this.events.push(...decided);
    return decided;
  }
}

/** The best value after each trial that ended, in the order of their ends; null before there is one. */
export function incumbents(
  ended: readonly SimulatedTrial[],
  smallerIsBetter: boolean,
): readonly (number | null)[] {
  let best: number | null = null;
  return ended.map(({ value }) => {
    const better =
      value !== null &&
      Number.isFinite(value) &&
      (best === null || (smallerIsBetter ? value < best : value > best));
    if (better) best = value;
    return best;
  });
}
