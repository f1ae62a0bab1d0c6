/**
 * The cost of a policy's decision is independent of the number of trials: it reads rankings and never visits every
 * trial.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { EarlyStoppingPolicy } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import { expect, it } from "vitest";
import type { SearchCommand } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { readsOf } from "../testing/reads.ts";
import { configOf, randomOf, validation } from "../testing/searches.ts";
import { median, noImprovement, pbt, percentile } from "../testing/early-stopping.ts";

const REPORTS = 4;
const COUNTED = 50;

/** Runs trials one after the other, and returns the number of state values that the last ones read. */
function readsAt(trials: number, policies: EarlyStoppingPolicy[]): number {
  const search = new SearchMachine();
  let reads = 0;
  let stops = 0;
  const send = (command: SearchCommand, counts: boolean): readonly SearchEvent[] => {
    const decided = search.decide(command) as readonly SearchEvent[];
    if (counts) reads += readsOf(search, command, decided);
    else for (const event of decided) search.apply(event);
    search.keep();
    return decided;
  };
  const config = configOf(randomOf(trials, 8), undefined, policies);
  send({ type: "StartSearch", config, seed: 1 }, false);
  for (let trial = 1; trial <= trials; trial += 1) {
    const counts = trial > trials - COUNTED;
    for (let time = 1; time <= REPORTS; time += 1) {
      const loss = draw(1, "loss", trial * REPORTS + time);
      const decided = send(validation(trial, time, { loss }), counts);
      if (decided.length === 1) continue;
      stops += counts ? 1 : 0;
      break;
    }
    send({ type: "RecordOutcome", trial, outcome: TrialOutcome.STOPPED_EARLY }, false);
  }
  expect(stops).toBeGreaterThan(0);
  return reads;
}

it.each<[string, EarlyStoppingPolicy]>([
  ["median", median()],
  ["percentile", percentile(80)],
  ["no_improvement", noImprovement(2)],
])(
  "a decision by %s among 3,000 trials reads about as much as one among 200",
  (_, policy) => {
    const [small, large] = [readsAt(200, [policy]), readsAt(3_000, [policy])];
    expect(small).toBeGreaterThan(1_000);
    // With fifteen times as many trials, rankings have more blocks, and a lookup takes a few more steps.
    expect(large / small).toBeLessThan(3);
  },
  60_000,
);

it("a pbt decision among 1,000 running trials reads about as much as one among 100", () => {
  const living = (trials: number): number => {
    const search = new SearchMachine();
    let reads = 0;
    const config = configOf(randomOf(trials, 0), undefined, [pbt({ patience: 9 })]);
    const send = (command: SearchCommand, counts: boolean): void => {
      const decided = search.decide(command) as readonly SearchEvent[];
      if (counts) reads += readsOf(search, command, decided);
      else for (const event of decided) search.apply(event);
      search.keep();
    };
    send({ type: "StartSearch", config, seed: 1 }, false);
    for (const time of [1, 2]) {
      for (let trial = 1; trial <= Math.min(trials, search.state.trials.length); trial += 1) {
        const loss = draw(1, "loss", trial * 2 + time);
        send(validation(trial, time, { loss }), time === 2 && trial <= COUNTED);
      }
    }
    return reads;
  };
  const [small, large] = [living(100), living(1_000)];
  expect(large / small).toBeLessThan(3);
});
