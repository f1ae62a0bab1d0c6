/** Runs that are asked to stop: without the SDK by SIGTERM, and with the SDK until the stop is taken back. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const config = (rest: string): string => `
name: asked
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 1
preemption_timeout: 600
${rest}
`;

test("a script without the SDK is asked at its time limit, saves its state, and its next run finds it", async () => {
  const saved = join(world.folder, "asked-saved");
  const id = await world.submit(
    config(`resources: { time_limit: 1 }
environment: { environment_variables: ["SAVED=${saved}"] }`),
    world.code("without_sdk"),
  );
  expect(await world.end(id)).toBe("COMPLETED");
  expect(existsSync(saved)).toBe(true);
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(runs.map(({ whyEnded }) => whyEnded)).toEqual(["acknowledged_stop", "finished"]);
});

test("a pause that is taken back lets the run continue, and the experiment shows that", async () => {
  const go = join(world.folder, "asked-go");
  const id = await world.submit(
    config(`environment: { environment_variables: ["GO=${go}"] }`),
    world.code("patient"),
  );
  const untilRun = (state: string) =>
    world.untilTrials(id, (trials) => trials[0]?.runs[0]?.state === state);
  const untilScript = (why: string) =>
    eventually(`the script knows of the stop: ${why}`, async () => {
      return readFileSync(`${go}.why`, "utf8") === why;
    });
  await untilRun("RUNNING");
  await untilScript("none");
  await world.client.call("pauseExperiment", { experiment: id });
  await untilRun("STOPPING");
  await untilScript("pause");
  await world.client.call("activateExperiment", { experiment: id });
  await untilRun("RUNNING");
  await untilScript("none");
  const described = await world.yard("experiment", "describe", id);
  expect(described.out).toContain("RUNNING");
  expect(described.out).not.toContain("STOPPING");
  writeFileSync(go, "");
  expect(await world.end(id)).toBe("COMPLETED");
  const { runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(runs.length).toBe(1);
});
