/**
 * Tests searches with halving on a real cluster: worse trials stop, and promoted ones continue from their checkpoint.
 */
import { expect, test } from "vitest";
import { world } from "./cluster.ts";

const STEPS = 1_000;

/** A suspension has to reach a trial before the trial has trained its maximum of 18 steps. */
const STEP_SECONDS = 0.2;

const config = (searcher: string): string => `
name: halving
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: ${searcher}
reproducibility: { experiment_seed: 21 }
environment: { environment_variables: ["STEPS=${STEPS}", "STEP_SECONDS=${STEP_SECONDS}"] }
`;

type Shown = { readonly id: string; readonly state: string; readonly stepsCompleted: number };

async function trialsOf(experiment: string): Promise<readonly Shown[]> {
  const { items } = await world.client.call("listTrials", { experiment, pageSize: 100 });
  return items.map(({ id, state, stepsCompleted }) => ({
    id,
    state: String(state),
    stepsCompleted,
  }));
}

async function completed(id: string): Promise<readonly Shown[]> {
  expect(await world.end(id)).toBe("COMPLETED");
  const trials = await trialsOf(id);
  expect(trials.map(({ state }) => state)).toEqual(trials.map(() => "COMPLETED"));
  // No trial trained as long as its code would have.
  expect(Math.max(...trials.map(({ stepsCompleted }) => stepsCompleted))).toBeLessThan(STEPS);
  return trials;
}

test("promotion ASHA resumes the best trials from their checkpoints, adaptive ASHA stops the worse ones", async () => {
  const promoting = await world.submit(
    config(
      "{ name: asha, metric: loss, max_trials: 4, max_time: 18, min_time: 2, divisor: 3, max_concurrent_trials: 2 }",
    ),
    world.code("curves"),
  );
  const stopping = await world.submit(
    config(
      "{ name: adaptive_asha, metric: loss, max_trials: 4, max_time: 18, time_metric: batches, divisor: 3, max_concurrent_trials: 2 }",
    ),
    world.code("curves"),
  );
  const trials = await completed(promoting);
  // By its seed, the first trial is the best: it waits at the first rung until three trials have reached it.
  const out = await world.logs(`${promoting}.1`);
  const [first, ...later] = out.match(/starts at \d+/g) ?? [];
  expect(first).toBe("starts at 0");
  expect(later[0]).toMatch(/^starts at [1-9]/);
  expect(trials).toHaveLength(4);
  expect(trials[0]?.stepsCompleted).toBeGreaterThanOrEqual(18);
  expect(await completed(stopping)).toHaveLength(4);
  const why = (await world.yard("search", "explain", stopping)).out.trim().split("\n");
  expect(why.length).toBeGreaterThan(0);
  for (const line of why)
    expect(line).toMatch(/trial \d+\.\d (stopped|resumed): it (ranks|has) .* time \d/);
  const explained = (await world.yard("search", "explain", promoting, "1", "-o", "json")).out;
  for (const line of explained.trim().split("\n")) {
    expect(JSON.parse(line)).toMatchObject({ data: { trial: 1 } });
  }
  for (const id of [promoting, stopping]) {
    expect((await world.yard("search", "replay", id)).out).toMatch(/ decisions, 0 differences\n$/);
  }
  const { items } = (await world.json("search", "best", stopping)) as {
    items: { value: number }[];
  };
  const values = items.map(({ value }) => value);
  expect(values.length).toBeGreaterThan(0);
  expect(values).toEqual([...values].sort((a, b) => b - a));
  expect((await world.yard("search", "importance", stopping)).err).toContain(
    "at least 20 are needed",
  );
  const other = world.write(
    "random.yaml",
    config("{ name: random, metric: loss, max_trials: 4, max_concurrent_trials: 2 }"),
  );
  const whatIf = await world.yard("search", "replay", stopping, "--with", other, "-o", "json");
  expect(JSON.parse(whatIf.out)).toMatchObject({ trials: [{ trial: 1 }, {}, {}, {}], beyond: 0 });
});
