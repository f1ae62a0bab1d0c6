import type { AnyEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { created, searchStarted, trialCreated } from "../../../testing/example-events.ts";
import { DocumentSet } from "./documents.ts";
import { leadersMax, withTrial } from "./leaders.ts";
import { project } from "./project.ts";
import { touchedBy, touchedThrough } from "./touched.ts";

/** The leaders of one experiment by `loss`. Each event is folded with only the rows that are fetched for it. */
class Experiment {
  #rows = new DocumentSet();

  constructor(trials: number) {
    this.add("experiment-1", created({}));
    this.add("search-1", searchStarted());
    for (let number = 1; number <= trials; number += 1) {
      const { data } = trialCreated(number);
      const event: AnyEvent = {
        type: "TrialCreated",
        data: { ...data, hyperparameters: { lr: number } },
      };
      this.add(`trial-1.${number}`, event);
    }
  }

  add(stream: string, event: AnyEvent): void {
    const all = this.#rows.rows();
    const fetched = new DocumentSet();
    const fetch = (keys: ReturnType<typeof touchedBy>): void => {
      for (const { kind, id } of keys) {
        const row = all.find((one) => one.kind === kind && one.id === id);
        if (row !== undefined) fetched.add(row);
      }
    };
    fetch(touchedBy(stream, event));
    fetch(touchedThrough(stream, event, fetched));
    project({ stream, timeMs: 0, position: 1 }, event, fetched);
    for (const row of fetched.changed()) this.#rows.put(row);
  }

  reports(trial: number, step: number, loss: number): void {
    const data = { trial: `1.${trial}`, run: 1, step, scalars: { loss }, nonNumeric: [] };
    const reportKey = `0-${step}`;
    this.add(`measurement-1.${trial}`, {
      type: "ValidationReported",
      data: { ...data, reportKey },
    });
  }

  ends(trial: number, outcome: TrialOutcome): void {
    const data = { outcome, reason: "", restarts: 0 };
    this.add(`trial-1.${trial}`, { type: "TrialEnded", data });
  }

  get best(): readonly unknown[] {
    const { bestTrial, bestValue, attributes = [] } = this.#rows.get("experiment", "1") ?? {};
    return [bestTrial, bestValue, attributes.find(({ name }) => name === "hparams.lr")?.number];
  }
}

const none = [undefined, undefined, undefined];

test("the next best trial replaces the best one when that fails", () => {
  const experiment = new Experiment(3);
  experiment.reports(1, 1, 0.3);
  experiment.reports(2, 1, 0.1);
  experiment.reports(3, 1, 0.2);
  expect(experiment.best).toEqual(["1.2", 0.1, 2]);
  experiment.ends(2, TrialOutcome.FAILED);
  expect(experiment.best).toEqual(["1.3", 0.2, 3]);
  experiment.ends(3, TrialOutcome.INVALID_HYPERPARAMETERS);
  experiment.ends(1, TrialOutcome.COMPLETED);
  expect(experiment.best).toEqual(["1.1", 0.3, 1]);
});

test("an experiment whose trials all failed has no best trial, even after a late report", () => {
  const experiment = new Experiment(1);
  experiment.reports(1, 1, 0.3);
  experiment.ends(1, TrialOutcome.FAILED);
  expect(experiment.best).toEqual(none);
  experiment.reports(1, 2, 0.2);
  expect(experiment.best).toEqual(none);
});

test("a failed trial that is continued can be the best again", () => {
  const experiment = new Experiment(2);
  experiment.reports(1, 1, 0.3);
  experiment.reports(2, 1, 0.4);
  experiment.ends(1, TrialOutcome.FAILED);
  experiment.add("trial-1.1", { type: "TrialContinued", data: { continuation: 1 } });
  expect(experiment.best).toEqual(["1.1", 0.3, 1]);
});

test("a rollback of the best trial makes the best of the others the best one", () => {
  const experiment = new Experiment(2);
  experiment.reports(1, 1, 0.5);
  experiment.reports(2, 1, 0.4);
  experiment.reports(1, 2, 0.1);
  const data = { run: 2, afterStep: 1 };
  experiment.add("measurement-1.1", { type: "MeasurementsSuperseded", data });
  expect(experiment.best).toEqual(["1.2", 0.4, 2]);
});

test("the leaders are the best of all values while fewer trials than the limit are removed", () => {
  const changes = fc.array(fc.tuple(fc.nat(leadersMax - 1), fc.option(fc.integer())), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(changes, fc.boolean(), (all, smallerIsBetter) => {
      const values = new Map<string, number>();
      let leaders: ReturnType<typeof withTrial> = [];
      for (const [number, value] of all) {
        const trial = `1.${number}`;
        if (value === null) values.delete(trial);
        else values.set(trial, value);
        leaders = withTrial(leaders, trial, value ?? undefined, smallerIsBetter);
      }
      const sorted = [...values.values()].sort((a, b) => (smallerIsBetter ? a - b : b - a));
      expect(leaders.map(({ value }) => value)).toEqual(sorted);
    }),
  );
});

test("an experiment keeps no more leaders than the limit", () => {
  let leaders: ReturnType<typeof withTrial> = [];
  for (let number = 40; number > 0; number -= 1) {
    leaders = withTrial(leaders, `1.${number}`, number, true);
  }
  expect(leaders).toHaveLength(leadersMax);
  expect(leaders[0]).toEqual({ trial: "1.1", value: 1 });
});
