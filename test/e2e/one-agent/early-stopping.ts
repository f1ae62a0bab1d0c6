/**
 * Tests early stopping on a real cluster: a policy's stop reaches the process, and bad reports fail their trial with a
 * reason.
 */
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

const config = (more: string, environment: readonly string[]): string => `
name: early-stopping
entrypoint: python3 train.py
hyperparameters: { lr: 0.5 }
environment: { environment_variables: ${JSON.stringify(environment)} }
${more}
`;

const trialOf = (experiment: string) => world.client.call("getTrial", { trial: `${experiment}.1` });

/** The time between two events of the experiment, by the log's clock. */
async function between(id: string, first: string, second: string): Promise<number> {
  const times = new Map<string, number>();
  for await (const { message } of world.client.stream("watchEvents", {
    experiment: id,
    noFollow: true,
  })) {
    const { type, time } = message;
    times.set(type.split(".")[3] ?? "", Date.parse(time));
  }
  return (times.get(second) ?? Number.NaN) - (times.get(first) ?? Number.NaN);
}

test("a policy's stop reaches the process, and its reason reaches the user", async () => {
  const id = await world.submit(
    config(
      `searcher: { name: single, metric: loss }
early_stopping: [{ name: threshold, lower: 0.7, grace: 3 }]`,
      ["STEPS=100000", "STEP_SECONDS=0.02"],
    ),
    world.code("curves"),
  );
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = await trialOf(id);
  expect(trial).toMatchObject({ state: "COMPLETED", restarts: 0 });
  expect(trial.reason).toMatch(/^threshold: its 0\.\d+ at \d+ is not between 0\.7 and any$/);
  expect(trial.runs).toMatchObject([{ whyEnded: "acknowledged_stop" }]);
  // The decision takes up to a quarter of a second on a busy machine; the process learns of it by a pending request.
  expect(await between(id, "TrialStopDecided", "AllocationStopRequested")).toBeLessThan(5_000);
  const { out } = await world.yard("search", "explain", id);
  expect(out).toMatch(
    /trial \d+\.1 stopped: threshold: its 0\.\d+ at \d+ is not between 0\.7 and any/,
  );
});

test("a report without the metric fails no trial if nothing depends on the metric, and warns once", async () => {
  const id = await world.submit(
    config("searcher: { name: single, metric: val_loss }", ["STEPS=3", "STEP_SECONDS=0"]),
    world.code("curves"),
  );
  expect(await world.end(id)).toBe("COMPLETED");
  expect(await trialOf(id)).toMatchObject({ state: "COMPLETED", restarts: 0 });
  const out = await world.logs(`${id}.1`);
  expect(out.match(/has no metric 'val_loss', the searcher's metric/g)).toHaveLength(1);
});

test.each([
  [
    "the metric",
    "searcher: { name: tpe, metric: val_loss, max_trials: 1 }",
    /^metric_missing: a validation has no val_loss, the searcher's metric; it has .*loss/,
  ],
  [
    "the time metric",
    "searcher: { name: single, metric: loss, time_metric: epochs }",
    /^time_metric_missing: a validation has no epochs, the searcher's time_metric; it has .*loss/,
  ],
])("a report without %s fails a trial, however soon it ends", async (_, searcher, reason) => {
  const id = await world.submit(
    config(searcher, ["STEPS=2", "STEP_SECONDS=0"]),
    world.code("curves"),
  );
  expect(await world.end(id)).toBe("ERROR");
  const trial = await trialOf(id);
  expect(trial).toMatchObject({ state: "ERROR", restarts: 0 });
  expect(trial.reason).toMatch(reason);
  expect((await world.yard("trial", "describe", `${id}.1`)).out).toContain(trial.reason);
  expect((await world.yard("experiment", "describe", id)).out).toContain(trial.reason);
  expect((await world.yard("search", "explain", id)).out).toMatch(
    /trial \d+\.1 failed: \w+_missing: a validation has no .*; it has .*loss/,
  );
});
