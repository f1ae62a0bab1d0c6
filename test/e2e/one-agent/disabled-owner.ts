/** An owner is disabled in mid-training: what it may do ends, and what it has submitted does not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "@trainyard/client";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";
import { clientOf, signIn, yard } from "./people.ts";

const trials = [1, 2, 3];

const config = (go: string, leave: string): string => `
name: owned
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials.length} }
max_restarts: 0
environment: { environment_variables: ["GO=${go}", "LEAVE=${leave}"] }
`;

/** Returns the code of the problem with which a promise is refused. */
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "",
    (error: unknown) => (error instanceof ApiError ? (error.problem?.code ?? "") : String(error)),
  );

/** Follows the points of a trial until the stream ends. Returns the code of its problem. */
async function followed(person: string, trial: string): Promise<string> {
  const stream = clientOf(person).stream("followTrialMetrics", { trial });
  const end = async (): Promise<void> => {
    for await (const _ of stream);
  };
  return codeOf(end());
}

/** Returns the steps of the validations of each trial that are stored. */
async function stepsOf(experiment: string): Promise<readonly (readonly number[])[]> {
  return Promise.all(
    trials.map(async (number) => {
      const trial = `${experiment}.${number}`;
      const { items } = await world.client.call("listTrialMetrics", { trial, pageSize: 100 });
      return items.map(({ stepsCompleted }) => stepsCompleted);
    }),
  );
}

async function checkpointsOf(experiment: string): Promise<readonly string[]> {
  const all = await Promise.all(
    trials.map((number) =>
      world.client.call("listCheckpoints", { trial: `${experiment}.${number}`, pageSize: 100 }),
    ),
  );
  return all.flatMap(({ items }) =>
    items
      .filter(({ state }) => state === "COMPLETED")
      .map(({ stepsCompleted }) => `${stepsCompleted}`),
  );
}

/** Waits until each trial has stored its first steps. */
async function untilStored(experiment: string, steps: readonly number[]): Promise<void> {
  await eventually(`the trials have stored the steps ${steps.join()}`, async () => {
    const points = await stepsOf(experiment);
    const checkpoints = await checkpointsOf(experiment);
    return (
      points.every((some) => steps.every((step) => some.includes(step))) &&
      checkpoints.length === steps.length * trials.length
    );
  });
}

test("an experiment whose owner is disabled in mid-training completes with all its reports and checkpoints", async () => {
  const made = await world.client.call("createUser", { name: "cy" });
  await signIn("cy", made.password);
  const cy = clientOf("cy");
  const [go, leave] = [join(world.folder, "owned-go"), join(world.folder, "owned-leave")];
  const submission = { config: config(go, leave), context: world.context(world.code("delayed")) };
  const { experiment: created } = await cy.call("createExperiment", submission);
  const experiment = created?.id ?? "";
  expect(created?.owner).toBe("cy");
  await untilStored(experiment, [1]);

  const stream = followed("cy", `${experiment}.1`);
  expect(await world.yard("user", "disable", "cy")).toMatchObject({ code: 0 });
  expect(await stream).toBe("user_disabled");
  expect(await codeOf(cy.call("getExperiment", { experiment }))).toBe("user_disabled");
  expect((await yard("cy", "e", "list")).err).toContain("disabled");

  writeFileSync(go, "");
  await untilStored(experiment, [1, 2]);
  writeFileSync(leave, "");
  expect(await world.end(experiment)).toBe("COMPLETED");
  await eventually("the last reports have arrived", async () =>
    (await stepsOf(experiment)).every((steps) => steps.includes(3)),
  );
});
