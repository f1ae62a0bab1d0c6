import { SearchCompletion, TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, ScheduleSearcher } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import { bestTrialOf, continuesTrials, lineOf, scheduleOf } from "../population/lineage.ts";
import { pbtOf } from "../testing/population.ts";
import { configOf, DrivenSearch, randomOf, validation } from "../testing/searches.ts";

const space: HyperparameterSpace = {
  lr: { type: "double", minval: 0, maxval: 1, count: null },
  model: {
    depth: { type: "const", val: 3 },
    width: { type: "int", minval: 1, maxval: 9, count: null },
  },
};

const scheduled = (more: Partial<ScheduleSearcher> = {}): ScheduleSearcher => ({
  name: "schedule",
  metric: "loss",
  smaller_is_better: true,
  time_metric: "",
  schedule: [
    { until: 10, hyperparameters: { lr: 0.5, model: { width: 2 } }, seed: 11 },
    { until: 24, hyperparameters: { lr: 0.4, model: { width: 3 } }, seed: null },
    { until: 30, hyperparameters: { lr: 0.3, model: { width: 4 } }, seed: 33 },
  ],
  ...more,
});

function started(searcher = scheduled()): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(searcher, space), 1);
  return search;
}

const saves = (search: DrivenSearch, trial: number, step: number) =>
  search
    .send({ type: "RecordCheckpoint", trial, checkpoint: `${trial}@${step}`, run: 1, step })
    .slice(1);

describe("a schedule", () => {
  it("trains each segment as a trial that continues from the checkpoint of the segment before it", () => {
    const search = started();
    expect(search.proposals()).toMatchObject([
      { hyperparameters: { lr: 0.5, model: { depth: 3, width: 2 } }, seed: 11, origin: "schedule" },
    ]);
    search.validate(1, 10, 1);
    expect(saves(search, 1, 9)).toEqual([]);
    expect(saves(search, 1, 10)).toMatchObject([
      { type: "TrialStopDecided", data: { trial: 1, rule: "segment_end" } },
      {
        type: "TrialProposed",
        data: {
          number: 2,
          hyperparameters: { lr: 0.4, model: { depth: 3, width: 3 } },
          startFromTrial: 1,
          startFromCheckpoint: "1@10",
          startFromStep: 10,
          startFromTime: 10,
        },
      },
    ]);
    search.end(1, TrialOutcome.STOPPED_EARLY);
    expect(saves(search, 2, 20)).toEqual([]);
    saves(search, 2, 25);
    expect(search.proposals().at(-1)).toMatchObject({ number: 3, startFromStep: 25, seed: 33 });
    search.end(2, TrialOutcome.STOPPED_EARLY);
    expect(search.validate(3, 29, 0.2).slice(1)).toEqual([]);
    expect(search.validate(3, 30, 0.1).slice(1)).toMatchObject([
      { type: "TrialStopDecided", data: { trial: 3, rule: "max_time" } },
    ]);
    search.end(3, TrialOutcome.STOPPED_EARLY);
    expect(search.completion()).toMatchObject({ reason: SearchCompletion.EXHAUSTED, bestTrial: 3 });
  });

  it("dates checkpoints by reports of the time metric if time is not the step", () => {
    const search = started(scheduled({ time_metric: "epochs" }));
    const reports = (step: number, epochs: number) =>
      search.send(validation(1, step, { loss: 1, epochs })).slice(1);
    reports(450, 9);
    expect(saves(search, 1, 500)).toEqual([]);
    expect(reports(500, 10).map(({ type }) => type)).toEqual(["TrialStopDecided", "TrialProposed"]);
    expect(search.proposals().at(-1)).toMatchObject({ startFromStep: 500, startFromTime: 10 });
  });

  it("fails when a segment fails, even after good values of the others", () => {
    const search = started();
    saves(search, 1, 10);
    search.end(1, TrialOutcome.STOPPED_EARLY);
    search.end(2, TrialOutcome.FAILED);
    expect(search.completion()?.reason).toBe(SearchCompletion.FAILED);
  });

  it("completes when the training code ends before the segment's time", () => {
    const search = started();
    search.validate(1, 8, 1);
    search.end(1, TrialOutcome.COMPLETED);
    expect(search.completion()?.reason).toBe(SearchCompletion.EXHAUSTED);
    expect(search.proposals()).toHaveLength(1);
  });
});

describe("the line of a trial", () => {
  function population(): DrivenSearch {
    const search = new DrivenSearch();
    search.start(configOf(pbtOf({ population_size: 2, quantile: 0.5 }), space), 4);
    search.validate(1, 4, 0.5);
    saves(search, 1, 4);
    search.validate(2, 4, 0.9);
    search.validate(1, 8, 0.4);
    search.validate(3, 8, 0.3);
    saves(search, 3, 8);
    search.validate(1, 12, 0.35);
    search.validate(4, 12, 0.1);
    return search;
  }

  it("lists its ancestors and itself, each with the time range of its hyperparameters", () => {
    const { events } = population();
    expect(bestTrialOf(events)).toBe(4);
    expect(lineOf(events, 4)).toMatchObject([
      { trial: 1, from: 0, until: 4 },
      { trial: 3, from: 4, until: 8 },
      { trial: 4, from: 8, until: 12 },
    ]);
    expect(lineOf(events, 1)).toMatchObject([{ trial: 1, from: 0, until: 12 }]);
    expect(lineOf(events, 9)).toEqual([]);
  });

  it("is only of use in a search whose trials continue from others", () => {
    expect(continuesTrials(population().events)).toBe(true);
    expect(continuesTrials(started().events)).toBe(true);
    const random = new DrivenSearch();
    random.start(configOf(randomOf(2, 2), space), 4);
    random.validate(1, 4, 0.5);
    expect(continuesTrials(random.events)).toBe(false);
  });

  it("becomes a schedule that trains with the same hyperparameters and seeds at the same times", () => {
    const search = population();
    const line = lineOf(search.events, 4);
    const again = started(scheduleOf(search.events, line) as ScheduleSearcher);
    for (const { trial, until } of [
      { trial: 1, until: 4 },
      { trial: 2, until: 8 },
    ]) {
      again.validate(trial, until, 1);
      saves(again, trial, until);
    }
    again.validate(3, 12, 0.1);
    const shape = ({ from, until, hyperparameters, seed }: (typeof line)[number]) => ({
      from,
      until,
      hyperparameters,
      seed,
    });
    expect(lineOf(again.events, 3).map(shape)).toEqual(line.map(shape));
  });
});
