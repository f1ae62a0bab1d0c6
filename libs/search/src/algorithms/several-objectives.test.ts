import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, SearcherConfig } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { paretoTrials, SearchRecord } from "../analysis/record.ts";
import { replaySearch } from "../replay/replay.ts";
import { configOf, DrivenSearch, randomOf, tpeOf, validation } from "../testing/searches.ts";
import type { ModelState } from "./model-state.ts";
import { bestOfSeveral } from "./several-objectives.ts";

const { COMPLETED, FAILED } = TrialOutcome;

const space: HyperparameterSpace = Object.fromEntries(
  ["a", "b", "c", "d"].map((name) => [
    name,
    { type: "double", minval: 0, maxval: 1, count: null } as const,
  ]),
);

const both = {
  objectives: [
    { metric: "loss", smaller_is_better: true },
    { metric: "speed", smaller_is_better: false },
  ],
};

const tpe = (trials: number, concurrent = 1): SearcherConfig => ({
  ...tpeOf(trials, concurrent),
  ...both,
});

/** The loss is best at a = 0, the speed at a = 1; both are best with b, c and d at 0.3. */
function valuesAt(point: unknown): { loss: number; speed: number } {
  const { a = 0, b = 0, c = 0, d = 0 } = point as Record<string, number>;
  const off = (b - 0.3) ** 2 + (c - 0.3) ** 2 + (d - 0.3) ** 2;
  return { loss: a * a + off, speed: 1 - (1 - a) ** 2 - off };
}

function trained(searcher: SearcherConfig, seed: number): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(searcher, space), seed);
  for (let trial = 1; search.completion() === undefined; trial += 1) {
    const scalars = valuesAt(search.proposals()[trial - 1]?.hyperparameters);
    search.send(validation(trial, 1, scalars));
    search.end(trial, COMPLETED);
    if (trial % 7 === 0) {
      search.restore();
    }
  }
  return search;
}

function recordOf({ events }: DrivenSearch): SearchRecord {
  const record = new SearchRecord();
  for (const event of events) record.add(event, 0);
  return record;
}

/** The area between the front and the reference point of loss 4 and speed -3. */
function hypervolume(search: DrivenSearch): number {
  const front = paretoTrials(recordOf(search)).front.map(({ values }) => values);
  const sorted = front.toSorted((one, other) => (one[0] ?? 0) - (other[0] ?? 0));
  let area = 0;
  let reached = -3;
  for (const [loss = 0, speed = 0] of sorted) {
    area += (4 - loss) * (speed - reached);
    reached = speed;
  }
  return area;
}

describe("a search by several metrics", () => {
  it("covers more of the front by TPE than by random search", () => {
    const gained = [1, 2, 3].map((seed) => {
      const random = { ...randomOf(60, 1), ...both };
      return hypervolume(trained(tpe(60), seed)) - hypervolume(trained(random, seed));
    });
    for (const more of gained) expect(more).toBeGreaterThan(0);
  });

  it("records every metric, completes with the best of the first metric, and replays the same", () => {
    const search = trained(tpe(25, 3), 5);
    const record = recordOf(search);
    expect(record.objectives.map(({ metric }) => metric)).toEqual(["loss", "speed"]);
    expect(record.trials.every(({ values }) => values?.length === 2)).toBe(true);
    const losses = record.trials.map(({ best }) => best ?? Number.NaN);
    expect(search.completion()?.bestValue).toBe(Math.min(...losses));
    expect(replaySearch(search.events).differences).toEqual([]);
  });

  it("fails a trial whose report lacks a metric, and names the metric", () => {
    const search = new DrivenSearch();
    search.start(configOf(tpe(4, 2), space));
    const events = search.send(validation(1, 1, { loss: 1, other: 2 }));
    expect(events).toMatchObject([
      { type: "ObservationRecorded", data: { missing: { name: "speed" } } },
      {
        type: "TrialStopDecided",
        data: {
          rule: "metric_missing",
          fails: true,
          evidence: { metric: "speed", reported: ["loss", "other"] },
        },
      },
    ]);
  });

  it("uses the last finite report of each trained trial", () => {
    const search = new DrivenSearch();
    search.start(configOf(tpe(9, 4), space));
    search.send(validation(1, 1, { loss: 9, speed: 0 }));
    search.send(validation(1, 2, { loss: 1, speed: 1 }));
    search.send(validation(1, 3, { loss: 0, speed: Number.NaN }));
    search.send(validation(2, 1, { loss: 0, speed: 9 }));
    search.send(validation(3, 1, { loss: 2, speed: 0 }));
    for (const [trial, outcome] of [COMPLETED, FAILED, COMPLETED].entries()) {
      search.end(trial + 1, outcome);
    }
    const { several } = search.state.memory as ModelState;
    expect(several?.contenders).toEqual([
      { trial: 1, scores: [1, -1] },
      { trial: 3, scores: [2, 0] },
    ]);
    // A report after the trial's end does not reach the search.
    search.send(validation(3, 2, { loss: 0, speed: 2 }));
    const later = (search.state.memory as ModelState).several;
    expect(later === null ? [] : bestOfSeveral(later, 1)).toEqual([1]);
  });
});
