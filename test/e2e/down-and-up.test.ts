/**
 * Tests a cluster that goes down while it trains, and comes up again: no restart is counted, and no step is repeated
 * where the trials could end by themselves.
 */
import { join } from "node:path";
import { identityOf, isAlive } from "@trainyard/local-cluster/process-identity";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

let world: World;

beforeAll(async () => {
  world = await World.start({ slots: 2, restart: false, python: true });
});
afterAll(() => world[Symbol.asyncDispose]());

const config = (hurry: string): string => `
name: interrupted
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 2 }
max_restarts: 0
environment: { environment_variables: ["STEPS=200", "STEP_SECONDS=0.25", "HURRY=${hurry}"] }
`;

/** The lines of a trial's runs about their beginning and end, in order. */
async function marks(trial: string): Promise<readonly string[]> {
  return (await world.logs(trial)).match(/(starts|stops) at \d+/g) ?? [];
}

const stepOf = (mark: string): number => Number(mark.split(" ").at(-1));

async function untilSteps(experiment: string, steps: number): Promise<void> {
  await world.untilTrials(experiment, (trials) =>
    trials.every(({ stepsCompleted }) => stepsCompleted >= steps),
  );
}

/**
 * Waits until the second runs of the trials have taken 12 steps. The steps of the first runs are not known: on a busy
 * machine they may take many until their cluster is down.
 */
async function untilSecondRunsTakeSteps(trials: readonly string[]): Promise<void> {
  for (const trial of trials) {
    await eventually(`the second run of trial ${trial} has taken steps`, async () => {
      const [, , start] = await marks(trial);
      const { stepsCompleted } = await world.client.call("getTrial", { trial });
      return start !== undefined && stepsCompleted >= stepOf(start) + 12;
    });
  }
}

test("trials run on without their cluster after kill -9 of its supervisor, stop at a checkpoint when it goes down, and continue from it; trials that only their folders lead to continue from their latest one", async () => {
  const id = await world.submit(config(join(world.folder, "hurry")), world.code("steps"));
  const trials = [`${id}.1`, `${id}.2`];
  await untilSteps(id, 3);
  const processes = (await world.processes()).map(({ pid }) => identityOf(pid ?? 0));
  expect(processes).not.toContain(null);
  await world.kill("supervisor");
  await eventually("all processes of the cluster have ended", async () =>
    processes.every((one) => one !== null && !isAlive(one)),
  );
  await world.up();
  await untilSteps(id, 6);
  await world.down();
  await world.up();
  await untilSecondRunsTakeSteps(trials);
  await world.kill("agent-1");
  await world.kill("supervisor");
  await world.down();
  // The steps after the last start are not waited for.
  world.write("hurry", "");
  await world.up();
  expect(await world.end(id)).toBe("COMPLETED");
  for (const trial of trials) {
    expect(await world.client.call("getTrial", { trial })).toMatchObject({
      state: "COMPLETED",
      restarts: 0,
    });
    const [first, stop = "", second = "", third = ""] = await marks(trial);
    expect(first).toBe("starts at 0");
    expect(stop).toMatch(/^stops at \d+$/);
    expect(second).toBe(stop.replace("stops", "starts"));
    expect(third).toMatch(/^starts at \d+$/);
    // Each third step has a checkpoint, which is stored before the steps after it.
    expect(stepOf(third)).toBeGreaterThanOrEqual(stepOf(second) + 9);
  }
});
