/** Tests the profile of a trial's machines, from the sampling in its script to `yard trial profile`. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { TrialProfile } from "@trainyard/contracts/api";
import { expect, test } from "vitest";
import { needTorch } from "../../world/torch.ts";
import { world } from "./cluster.ts";

const config = (sampled: boolean): string => `
name: profiled
entrypoint: python3 train.py
hyperparameters: { sampled: ${sampled} }
searcher: { name: single, metric: loss }
profiling: { enabled: ${sampled} }
`;

test("yard trial profile shows each run separately, even steps that the next run repeated", async () => {
  const boards = join(world.folder, "boards");
  const own = `tensorboard_storage: { type: directory, container_path: "${boards}" }`;
  const id = await world.submit(`${config(true)}${own}\n`, world.code("profiled"));
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = `${id}.1`;

  const profile = (await world.json("trial", "profile", trial)) as Plain<TrialProfile>;
  expect(profile.enabled).toBe(true);
  expect([profile.run, profile.runs]).toEqual([2, [1, 2]]);
  const earlier = await world.client.call("getTrialProfile", { trial, run: 1 });
  const utilization = [...earlier.summaries, ...profile.summaries].filter(
    ({ group, value }) => group === "cpu" && value?.name === "utilization_percent",
  );
  expect(utilization.map(({ run, node }) => [run, node])).toEqual([
    [1, 0],
    [2, 0],
  ]);
  for (const { value, samples, agent } of utilization) {
    expect(samples).toBeGreaterThan(2);
    expect(agent).not.toBe("");
    expect(value?.max).toBeLessThanOrEqual(100);
    expect(value?.min).toBeLessThanOrEqual(value?.mean ?? 0);
    expect(value?.mean).toBeLessThanOrEqual(value?.max ?? 0);
  }
  const groups = new Set(profile.summaries.map(({ group }) => group));
  expect([...groups]).toEqual(
    expect.arrayContaining(["cpu", "disk", "memory", "network", "throughput"]),
  );
  expect([earlier, profile].map(({ pace }) => [pace?.run, pace?.steps])).toEqual([
    [1, 3],
    [2, 3],
  ]);

  // Run 1 died at step 4, and its steps after step 2 were repeated.
  const told = await world.client.call("listTrialSystemMetrics", { trial, group: "cpu" });
  const ofRun1 = told.items.filter(({ run }) => run === 1);
  expect(Math.max(...ofRun1.map(({ stepsCompleted }) => stepsCompleted))).toBeGreaterThan(2);
  const metrics = await world.client.call("listTrialMetrics", { trial });
  expect(new Set(metrics.items.map(({ group }) => group))).toEqual(
    new Set(["training", "validation"]),
  );
  expect(
    metrics.items.filter(({ run }) => run === 1).map(({ stepsCompleted }) => stepsCompleted),
  ).toEqual([1, 2]);

  const table = (await world.yard("trial", "profile", trial, "--run", "1")).out;
  expect(table).toMatch(/^NODE +GROUP +DEVICE +MEASURED +MIN +MEAN +MAX +SAMPLES$/m);
  expect(table).toMatch(/cpu +utilization_percent/);
  expect(table).toMatch(/^pace +[\d.]+ steps a second$/m);
  expect(table).toMatch(/^run +1 of 1, 2$/m);
  expect(table).toContain(profile.tensorboardPath);

  const { log } = await world.client.call("getVersion", {});
  // The script's files are at the path that the platform and the configuration give: a file for each run.
  expect(profile.tensorboardPath).toBe(
    join(boards, "tensorboard", log, "experiment", id, "trial", trial),
  );
  const folder = await world.yard("trial", "tensorboard", trial);
  expect(folder).toMatchObject({ code: 0, out: `${profile.tensorboardPath}\n` });
  const files = readdirSync(join(profile.tensorboardPath, "metrics"));
  expect(files.length).toBe(2);
  const copied = await world.yard("trial", "tensorboard", trial, "copied");
  expect(copied).toMatchObject({ code: 0, out: `${join(world.folder, "copied")}\n` });
  expect(readdirSync(join(world.folder, "copied", "metrics")).sort()).toEqual(files.sort());
});

test("a PyTorchTrial in two processes leaves its traces, TensorBoard files and samples", async ({
  skip,
}) => {
  needTorch(skip);
  const text = config(true).replace("python3", "python3 -m trainyard.launch.torch python3");
  const wide = `${text}resources: { slots_per_trial: 2 }\n`;
  const id = await world.submit(wide, world.code("traced"));
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = `${id}.1`;
  const { summaries, tensorboardPath } = await world.client.call("getTrialProfile", { trial });
  const mean = (name: string): number =>
    summaries.find(({ value }) => value?.name === name)?.value?.mean ?? 0;
  // Each process has batches of eight samples.
  expect(mean("samples_per_second") / mean("batches_per_second")).toBeCloseTo(16, 1);
  const files = readdirSync(tensorboardPath, { recursive: true }).map(String);
  for (const rank of [0, 1]) {
    const trace = new RegExp(`(^|/)rank-${rank}\\.[^/]*\\.pt\\.trace\\.json\\.gz$`);
    expect(files.filter((file) => trace.test(file)).length).toBe(1);
  }
  const events = files.filter((file) => file.includes("tfevents"));
  expect(events.map((file) => file.replace(/events.*/, "")).sort()).toEqual([
    "",
    "metrics/",
    "rank-1/",
  ]);
});

test("yard trial profile of a trial without profiling explains how to turn it on", async () => {
  const id = await world.submit(config(false), world.code("profiled"));
  expect(await world.end(id)).toBe("COMPLETED");
  const said = await world.yard("trial", "profile", `${id}.1`);
  expect(said).toMatchObject({ code: 1, out: "" });
  expect(said.err).toContain("set profiling.enabled to true");
  expect((await world.yard("trial", "profile", "99.1")).code).toBe(2);
  const folder = await world.yard("trial", "tensorboard", `${id}.1`);
  expect(folder).toMatchObject({ code: 1, out: "" });
  expect(folder.err).toContain("has written no TensorBoard files");
  const copied = await world.yard("trial", "tensorboard", `${id}.1`, "nothing");
  expect(copied).toMatchObject({ code: 2, out: "" });
  expect(copied.err).toContain("has found no TensorBoard files");
  expect(existsSync(join(world.folder, "nothing"))).toBe(false);
});
