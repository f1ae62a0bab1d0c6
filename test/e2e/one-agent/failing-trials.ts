import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

function config(maxRestarts: number, entrypoint: string = "python3 train.py"): string {
  return `
name: failing
entrypoint: ${entrypoint}
searcher: { name: single, metric: loss }
max_restarts: ${maxRestarts}
environment: { environment_variables: ["FAIL_AT=2", "EXIT_CODE=3"] }
`;
}

const trialOf = (experiment: string) => world.client.call("getTrial", { trial: `${experiment}.1` });

test("a trial that exits non-zero restarts from its latest checkpoint, and is in ERROR after max_restarts", async () => {
  const id = await world.submit(config(2), world.code("exits"));
  const waited = await world.yard("e", "wait", id);
  expect(waited.code).toBe(1);
  expect(waited.err).toContain("ERROR");
  const trial = await trialOf(id);
  expect(trial).toMatchObject({ state: "ERROR", restarts: 2 });
  expect(trial.runs.length).toBe(3);
  expect(trial.runs[0]?.message).toContain("3");
  const logs = await world.logs(`${id}.1`);
  expect(logs.match(/run \d starts at \d/g)).toEqual([
    "run 1 starts at 0",
    "run 2 starts at 2",
    "run 3 starts at 4",
  ]);
  expect(trial.lastLogLines.join("\n")).toContain("about to fail");
  for (const described of [
    await world.yard("trial", "describe", `${id}.1`),
    await world.yard("experiment", "describe", id),
  ]) {
    expect(described.out).toContain("  | about to fail");
  }
});

test("a trial with a line that matches a cancel_retries log policy is in ERROR without a retry, and its description has the reason", async () => {
  const policies =
    "log_policies: [{ name: hopeless, pattern: about to f.il, action: cancel_retries }]";
  const id = await world.submit(`${config(5)}${policies}\n`, world.code("exits"));
  expect(await world.end(id)).toBe("ERROR");
  const trial = await trialOf(id);
  expect(trial).toMatchObject({ state: "ERROR", restarts: 0 });
  expect(trial.runs.length).toBe(1);
  expect((await world.yard("trial", "describe", `${id}.1`)).out).toMatch(
    /^log policy hopeless, cancel_retries: run 1, .*about to fail/m,
  );
});

test("a program that does not exist is named in the trial's log, and ends the trial in ERROR", async () => {
  const id = await world.submit(config(0, "no-such-python train.py"), world.code("exits"));
  expect(await world.end(id)).toBe("ERROR");
  const trial = await trialOf(id);
  expect(trial.state).toBe("ERROR");
  expect(trial.lastLogLines.join("\n")).toContain("no-such-python");
});

test("a trial whose latest checkpoints are damaged continues from its newest intact one, and that costs no restart", async () => {
  const go = join(world.folder, "damaged-go");
  const id = await world.submit(
    `
name: damaged
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 1
checkpoint_storage: { save_trial_latest: 3 }
environment: { environment_variables: ["GO=${go}"] }
`,
    world.code("restored"),
  );
  const stored = async () => {
    const { items } = await world.client.call("listCheckpoints", { trial: `${id}.1` });
    return items.toSorted((one, other) => one.stepsCompleted - other.stepsCompleted);
  };
  await eventually("three checkpoints are complete", async () => {
    const states = (await stored()).map(({ state }) => state);
    return states.join() === "COMPLETED,COMPLETED,COMPLETED";
  });
  const [, second, third] = await stored();
  const fileOf = async (checkpoint = "") =>
    join((await world.client.call("planDownload", { checkpoint })).path, "step");
  rmSync(await fileOf(second?.uuid));
  writeFileSync(await fileOf(third?.uuid), "9");
  writeFileSync(go, "");
  expect(await world.end(id)).toBe("COMPLETED");
  const logs = await world.logs(`${id}.1`);
  expect(logs.match(/run \d starts at \d/g)).toEqual(["run 1 starts at 0", "run 4 starts at 1"]);
  expect(logs).toContain("the platform finds the same, and no later run starts from this");
  expect(await trialOf(id)).toMatchObject({ state: "COMPLETED", restarts: 1 });
  const left = await stored();
  expect(left.map(({ state }) => state).filter((state) => state === "DAMAGED")).toHaveLength(2);
}, 90_000);
