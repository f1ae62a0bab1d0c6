/** The cost of a decision is independent of the size of the search: ranks in a rung are found in a balanced tree. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { draw } from "@trainyard/kernel";
import { expect, it } from "vitest";
import type { SearchCommand } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import { readsOf } from "../testing/reads.ts";
import { configOf, validation } from "../testing/searches.ts";
import { ashaOf } from "../testing/halving.ts";

/** Runs a search to trial `reached`; returns the number of state values that the next 100 trials read. */
function readsAt(reached: number): number {
  let reads = 0;
  let counts = false;
  const search = new SearchMachine();
  const waiting: { readonly trial: number; readonly until: number }[] = [];
  const stopped: number[] = [];
  const send = (command: SearchCommand): void => {
    const decided = search.decide(command) as readonly SearchEvent[];
    if (counts) reads += readsOf(search, command, decided);
    if (!counts) for (const event of decided) search.apply(event);
    search.keep();
    for (const event of decided) {
      const { type, data } = event;
      if (type === "TrialProposed") waiting.push({ trial: data.number, until: 1 });
      if (type === "TrialResumed") waiting.push({ trial: data.trial, until: data.target });
      if (type === "TrialStopDecided") stopped.push(data.trial);
    }
  };
  const goOnTo = (trials: number): void => {
    while (search.state.trials.length < trials) {
      const { trial, until } = waiting.shift() ?? { trial: 0, until: 0 };
      send(validation(trial, until, { loss: draw(1, "loss", trial) }));
      for (let end = stopped.pop(); end !== undefined; end = stopped.pop()) {
        send({ type: "RecordOutcome", trial: end, outcome: TrialOutcome.STOPPED_EARLY });
      }
    }
  };
  const config = ashaOf({ max_trials: 40_000, max_time: 81, max_concurrent_trials: 16 });
  send({ type: "StartSearch", config: configOf(config), seed: 1 });
  goOnTo(reached);
  counts = true;
  goOnTo(search.state.trials.length + 100);
  return reads;
}

it("a decision among 20,000 trials reads about as much as one among 500", () => {
  const [small, large] = [readsAt(500), readsAt(20_000)];
  expect(small).toBeGreaterThan(1_000);
  // The trees are a few levels deeper, while scanning a rung would read forty times as much.
  expect(large / small).toBeLessThan(6);
});
