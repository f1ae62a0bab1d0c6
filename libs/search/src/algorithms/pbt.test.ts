import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, PbtSearcher } from "@trainyard/experiment-config";
import { describe, expect, it } from "vitest";
import type { SearchEvent } from "../events.ts";
import { pbtOf } from "../testing/population.ts";
import { configOf, DrivenSearch, validation } from "../testing/searches.ts";

const { CANCELED, COMPLETED, FAILED, INVALID_HYPERPARAMETERS: INVALID } = TrialOutcome;

const space: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  layers: { type: "int", minval: 1, maxval: 9, count: null },
};

function started(more: Partial<PbtSearcher> = {}, seed = 1): DrivenSearch {
  const search = new DrivenSearch();
  search.start(configOf(pbtOf(more), space), seed);
  return search;
}

function saves(search: DrivenSearch, trial: number, step: number): readonly SearchEvent[] {
  const checkpoint = `${trial}@${step}`;
  return search.send({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step });
}

/** Lets each trial report its value at the step, in the given order, and then save a checkpoint. */
function reports(search: DrivenSearch, step: number, values: Readonly<Record<number, number>>) {
  const decided = Object.entries(values).flatMap(([trial, value]) =>
    search.validate(Number(trial), step, value).slice(1),
  );
  for (const trial of Object.keys(values)) saves(search, Number(trial), step);
  return decided;
}

const named = (events: readonly SearchEvent[]) => events.map(({ type }) => type);
const verdict = (events: readonly SearchEvent[]) =>
  events.map((event) =>
    event.type === "TrialStopDecided" || event.type === "TrialResumed"
      ? `${event.data.rule} ${event.data.trial}`
      : event.type === "TrialProposed"
        ? `${event.data.number} from ${event.data.startFromCheckpoint ?? "nothing"}`
        : event.type,
  );

describe("a population", () => {
  it("begins with as many random trials as it has members", () => {
    const search = started();
    expect(named(search.events)).toEqual(["SearchStarted", ...Array(4).fill("TrialProposed")]);
    expect(search.proposals().map(({ origin }) => origin)).toEqual(Array(4).fill("drawn"));
  });

  it("compares a member once per interval, and not during the burn-in", () => {
    const search = started({ burn_in: 6 });
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    expect(reports(search, 5, { 1: 1, 2: 2, 3: 3, 4: 4 })).toEqual([]);
    expect(verdict(reports(search, 6, { 1: 1 }))).toEqual(["pbt_good_enough 1"]);
    expect(reports(search, 9, { 1: 1 })).toEqual([]);
    expect(verdict(reports(search, 10, { 1: 1 }))).toEqual(["pbt_good_enough 1"]);
  });

  it("stops a member in the lower quantile and proposes a trial from a donor's checkpoint", () => {
    const search = started();
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    const [stop, copy, ...rest] = search.validate(4, 4, 4).slice(1);
    expect(rest).toEqual([]);
    expect(stop).toMatchObject({
      type: "TrialStopDecided",
      data: {
        trial: 4,
        rule: "pbt_exploit",
        evidence: {
          value: 4,
          time: 4,
          rank: 4,
          of: 4,
          places: 4,
          exploit: "truncation",
          quantile: 0.25,
          copying: 1,
          donor: 1,
          donor_rank: 1,
          donor_value: 1,
          donor_time: 2,
          checkpoint_time: 2,
          copy: 5,
          competitors: [
            { trial: 1, value: 1, time: 2 },
            { trial: 2, value: 2, time: 2 },
            { trial: 3, value: 3, time: 2 },
          ],
        },
      },
    });
    expect(copy).toMatchObject({
      type: "TrialProposed",
      data: {
        number: 5,
        startFromTrial: 1,
        startFromCheckpoint: "1@2",
        startFromStep: 2,
        startFromTime: 2,
        origin: "explored",
        evidence: { parent: 1, replaces: 4, from_time: 2 },
      },
    });
  });

  it("compares a copy only after it has trained for an interval", () => {
    const search = started();
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    search.validate(4, 4, 4);
    expect(search.validate(5, 5, 9).slice(1)).toEqual([]);
    expect(verdict(search.validate(5, 6, 9).slice(1))).toEqual(["pbt_exploit 5", "6 from 1@2"]);
  });

  it("counts a copy as a place that is not known to be better until it reports", () => {
    const search = started();
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    expect(verdict(search.validate(4, 4, 4).slice(1))).toEqual(["pbt_exploit 4", "5 from 1@2"]);
    expect(verdict(search.validate(3, 4, 3).slice(1))).toEqual(["pbt_good_enough 3"]);
    expect(search.events.at(-1)).toMatchObject({
      data: { evidence: { rank: 3, of: 3, places: 4, copying: 1 } },
    });
    search.validate(5, 4, 1.5);
    expect(verdict(search.validate(3, 8, 3).slice(1))).toEqual(["pbt_exploit 3", "6 from 1@2"]);
  });

  it("replaces no member in its first interval before enough better ones have reported", () => {
    const search = started();
    for (const trial of [1, 2, 3, 4]) saves(search, trial, 3);
    const decided = [3, 2, 1, 4].map((trial) => verdict(search.validate(trial, 4, trial).slice(1)));
    expect(decided).toEqual([
      ["pbt_good_enough 3"],
      ["pbt_good_enough 2"],
      ["pbt_good_enough 1"],
      ["pbt_exploit 4", "5 from 1@3"],
    ]);
  });

  it("replaces a failed member by one of the best of as many places, if fewer have reported", () => {
    const donors = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) => {
      const search = started({ population_size: 8 }, seed);
      reports(search, 2, { 1: 1, 2: 2, 3: 3 });
      const [copy] = search.end(8, FAILED).slice(1);
      return copy?.type === "TrialProposed" ? copy.data.startFromTrial : undefined;
    });
    expect(new Set(donors)).toEqual(new Set([1, 2]));
  });

  it("lets a member continue while no other member has reported", () => {
    const search = started();
    expect(verdict(search.validate(1, 4, 9).slice(1))).toEqual(["pbt_good_enough 1"]);
  });

  it("copies the donor's latest checkpoint, whatever the times of its score and of the member", () => {
    const search = started();
    reports(search, 2, { 2: 2, 3: 3, 4: 4 });
    search.validate(1, 12, 1);
    saves(search, 1, 11);
    expect(verdict(search.validate(4, 5, 4).slice(1))).toEqual(["pbt_exploit 4", "5 from 1@11"]);
    expect(saves(search, 1, 10)).toEqual([]);
    expect(search.proposals().at(-1)).toMatchObject({ startFromStep: 11, startFromTime: 11 });
  });

  it("skips donors without a checkpoint, or whose checkpoint has reached the full length", () => {
    const search = started({ quantile: 0.5 });
    for (const trial of [1, 2, 3, 4]) search.validate(trial, 2, trial);
    saves(search, 2, 2);
    expect(verdict(search.validate(4, 4, 4).slice(1))).toEqual(["pbt_exploit 4", "5 from 2@2"]);
    saves(search, 2, 40);
    expect(search.validate(3, 5, 3).slice(1)).toEqual([]);
  });

  it("compares a member again at its next report if no member has a checkpoint yet", () => {
    const search = started();
    for (const trial of [1, 2, 3, 4]) search.validate(trial, 2, trial);
    expect(search.validate(4, 4, 4).slice(1)).toEqual([]);
    saves(search, 1, 2);
    expect(verdict(search.validate(4, 5, 4).slice(1))).toEqual(["pbt_exploit 4", "5 from 1@2"]);
  });

  it("ranks members with values that are not finite last, and never copies them", () => {
    const search = started({ smaller_is_better: false });
    reports(search, 2, { 1: Number.POSITIVE_INFINITY, 2: Number.NaN, 3: 3, 4: 4 });
    expect(verdict(search.validate(2, 4, Number.NaN).slice(1))).toEqual([
      "pbt_exploit 2",
      "5 from 4@2",
    ]);
    expect(search.events.at(-2)).toMatchObject({
      data: { evidence: { value: null, donor_value: 4 } },
    });
  });

  it("stops a member that has trained to the full length, and continues with the others", () => {
    const search = started();
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    expect(verdict(search.validate(1, 40, 1).slice(1))).toEqual(["max_time 1"]);
    expect(verdict(search.validate(4, 4, 4).slice(1))).toEqual(["pbt_exploit 4", "5 from 2@2"]);
  });

  it("lets members continue unchanged once the last trial was proposed", () => {
    const search = started({ max_trials: 4 });
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    expect(verdict(search.validate(4, 4, 4).slice(1))).toEqual(["pbt_last_trial 4"]);
  });

  it("copies the opponent of a tournament only if the opponent is better", () => {
    const won = [1, 2, 3, 4, 5, 6].map((seed) => {
      const search = started({ exploit: "tournament" }, seed);
      reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
      const [first] = search.validate(2, 4, 2).slice(1);
      const { rule = "", evidence } =
        first?.type === "TrialStopDecided" || first?.type === "TrialResumed" ? first.data : {};
      return `${rule} after ${String(evidence?.["opponent"])}`;
    });
    expect(new Set(won)).toEqual(
      new Set(["pbt_exploit after 1", "pbt_good_enough after 3", "pbt_good_enough after 4"]),
    );
  });

  it("dates a checkpoint by reports of the time metric if time is not the step", () => {
    const search = started({ time_metric: "epochs" });
    const at = (trial: number, step: number, epochs: number, loss: number) =>
      search.send(validation(trial, step, { loss, epochs })).slice(1);
    for (const trial of [1, 2, 3, 4]) at(trial, 100, 1, trial);
    saves(search, 1, 150);
    at(4, 200, 2, 4);
    expect(verdict(at(4, 500, 5, 4))).toEqual(["pbt_exploit 4", "5 from 1@150"]);
    expect(search.proposals().at(-1)).toMatchObject({ startFromStep: 150, startFromTime: 1 });
    // The checkpoint of step 300 is complete before the report of step 300 is recorded.
    saves(search, 1, 300);
    at(1, 300, 3, 1);
    at(5, 250, 2, 1.5);
    expect(verdict(at(3, 500, 5, 3))).toEqual(["pbt_exploit 3", "6 from 1@300"]);
    expect(search.proposals().at(-1)).toMatchObject({ startFromStep: 300, startFromTime: 3 });
  });
});

describe("a population whose members take turns", () => {
  const names: Readonly<Record<string, string>> = {
    TrialSuspended: "suspended",
    TrialResumed: "resumed",
    TrialProposed: "proposed",
    TrialStopDecided: "stopped",
  };
  const turns = (events: readonly SearchEvent[]) =>
    events.map(({ type, data }) => {
      const trial = "trial" in data ? data.trial : "number" in data ? data.number : 0;
      return `${names[type] ?? type} ${trial}`;
    });

  it("suspends a compared member, and resumes the member with the fewest steps", () => {
    const search = started({ max_concurrent_trials: 2 });
    expect(search.proposals()).toHaveLength(2);
    expect(turns(search.validate(1, 4, 1).slice(1))).toEqual(["suspended 1", "proposed 3"]);
    expect(turns(search.validate(2, 4, 0.5).slice(1))).toEqual(["suspended 2", "proposed 4"]);
    saves(search, 1, 4);
    expect(turns(search.validate(3, 5, 0.6).slice(1))).toEqual(["suspended 3", "resumed 1"]);
    saves(search, 2, 4);
    expect(turns(search.validate(4, 4, 9).slice(1))).toEqual(["stopped 4", "proposed 5"]);
    expect(turns(search.validate(1, 8, 0.1).slice(1))).toEqual(["suspended 1", "resumed 2"]);
    expect(turns(search.end(5, CANCELED).slice(1))).toEqual(["resumed 3"]);
  });

  it("does not compare a suspended member that still reports", () => {
    const search = started({ max_concurrent_trials: 2 });
    search.validate(1, 4, 1);
    expect(search.validate(1, 9, 1).slice(1)).toEqual([]);
    expect(turns(search.validate(1, 40, 1).slice(1))).toEqual(["stopped 1"]);
    expect(turns(search.validate(2, 4, 1).slice(1))).toEqual(["suspended 2", "proposed 4"]);
  });

  it("resumes the compared member if no other member can take its place", () => {
    const search = started({ population_size: 3, max_concurrent_trials: 1 });
    search.end(1, FAILED);
    search.end(2, COMPLETED);
    expect(turns(search.validate(3, 4, 1).slice(1))).toEqual(["resumed 3"]);
  });

  it("resumes the compared member if no other member waits", () => {
    const search = started({ max_concurrent_trials: 4 });
    expect(turns(search.validate(1, 4, 1).slice(1))).toEqual(["resumed 1"]);
  });
});

describe("a population that loses a member", () => {
  it("starts random trials until a member can be copied", () => {
    const search = started();
    expect(verdict(search.end(2, INVALID).slice(1))).toEqual(["5 from nothing"]);
    reports(search, 2, { 1: 1, 3: 3, 4: 4, 5: 5 });
    expect(verdict(search.end(3, FAILED).slice(1))).toEqual(["6 from 1@2"]);
    expect(search.proposals().at(-1)?.evidence).not.toHaveProperty("replaces");
  });

  it("gives up after twice as many failed trials as it has members", () => {
    const search = started();
    for (let trial = 1; search.completion() === undefined; trial += 1) search.end(trial, FAILED);
    expect(search.proposals()).toHaveLength(8);
  });

  it("fills the vacant places once a member can be copied", () => {
    const search = started({ max_trials: 12 });
    for (const trial of [1, 2, 3, 4, 5]) search.end(trial, INVALID);
    expect(verdict(search.validate(6, 2, 1).slice(1))).toEqual([]);
    expect(verdict(saves(search, 6, 2).slice(1))).toEqual(["9 from 6@2"]);
  });

  it("never copies a checkpoint again from which a trial failed before its first report", () => {
    const search = started({ quantile: 0.5 });
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    const [, copy] = search.validate(4, 4, 4).slice(1);
    const donor = copy?.type === "TrialProposed" ? copy.data.startFromTrial : 0;
    const other = donor === 1 ? 2 : 1;
    expect(verdict(search.end(5, FAILED).slice(1))).toEqual([`6 from ${other}@2`]);
  });

  it("does not replace a member that was canceled or has completed", () => {
    const search = started();
    reports(search, 2, { 1: 1, 2: 2, 3: 3, 4: 4 });
    expect(search.end(1, CANCELED).slice(1)).toEqual([]);
    expect(search.end(2, COMPLETED).slice(1)).toEqual([]);
  });
});
