/** The delivery of an ended run's checkpoints and lines, by the platform's answers and after a power cut. */
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { afterAll, expect, test, vi } from "vitest";
import { limits } from "./limits.ts";
import { AgentStage } from "./testing/agent-stage.ts";
import { launchOf, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 30_000, interval: 50 };
const first = "00000000-0000-4000-8000-00000000000f";
const second = "00000000-0000-4000-8000-00000000000a";

const recordsOf = (stage: AgentStage, launch: RequestedRun): readonly string[] =>
  readdirSync(stage.spoolOf(launch)).toSorted();

const spool = "$TRAINYARD_RUN_DIR/spool/checkpoints";
const written = (checkpoint: string): string =>
  `mkdir -p "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}" "${spool}"
   echo model > "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}/model"`;
/** A script that leaves a checkpoint as a process that was killed while it wrote. */
const begun = (checkpoint: string): string =>
  `${written(checkpoint)}; touch "${spool}/${checkpoint}.begun"`;
/** A script that leaves a checkpoint as the SDK does when the platform is unavailable. */
const sealed = (checkpoint: string, sealedMs = Date.now()): string => {
  const record = { sealedMs, checkpoint, stepsCompleted: 1, metadata: {}, manifest: [] };
  return `${written(checkpoint)}; echo '${JSON.stringify(record)}' > "${spool}/${checkpoint}.json"`;
};

test.concurrent("a folder without a record stays if the platform knows its checkpoint, as after a power cut", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  const third = "00000000-0000-4000-8000-00000000000b";
  platform.checkpoints.set(first, { declared: {}, manifest: [] });
  platform.incomplete.add(second);
  const launch = launchOf([first, second, third].map(begun).join("\n"));
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(() => expect(recordsOf(stage, launch)).toEqual([]), patient);
  const kept = [first, second, third].filter((one) => existsSync(join(checkpoints, one, "model")));
  expect(kept).toEqual([first, second]);
});

test.concurrent("a folder without a record stays until the platform has answered whether it knows the checkpoint", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(begun(first));
  platform.run(launch);
  await platform.ended(launch);
  const { checkpointRequests } = platform;
  await vi.waitFor(
    () => expect(platform.checkpointRequests).toBeGreaterThan(checkpointRequests),
    patient,
  );
  expect([recordsOf(stage, launch), existsSync(join(checkpoints, first, "model"))]).toEqual([
    [`${first}.begun`],
    true,
  ]);
  await stage.stopAgent();
  platform.checkpointStatus = 200;
  await stage.startAgent();
  await vi.waitFor(() => expect(recordsOf(stage, launch)).toEqual([]), patient);
  expect(existsSync(join(checkpoints, first))).toBe(false);
});

test.concurrent.each([
  [401, "token_unknown"],
  [404, "checkpoint_not_found"],
  [410, "history_lost"],
])(
  "a sealed checkpoint waits after an answer %d %s, with one line in the trial's log",
  async (status, code) => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    platform.checkpointStatus = status;
    platform.checkpointCode = code;
    const launch = launchOf(sealed(first));
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect(ended.sealed?.checkpoints).toMatchObject([{ checkpoint: first }]);
    await vi.waitFor(
      () => expect(platform.texts(launch).join("\n")).toContain("as the test says"),
      patient,
    );
    expect(recordsOf(stage, launch)).toEqual([`${first}.json`]);
    platform.checkpointStatus = 200;
    await stage.stopAgent();
    await stage.startAgent();
    await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
    expect(platform.texts(launch)).toHaveLength(1);
  },
);

test.concurrent("a run whose history is lost is not asked for again until the scheduler's epoch rises", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 410;
  platform.checkpointCode = "history_lost";
  const launch = launchOf(`${sealed(first)}; ${sealed(second)}`);
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toHaveLength(1), patient);
  expect(platform.checkpointRequests).toBe(1);
  platform.checkpointStatus = 200;
  platform.epoch += 1;
  platform.send();
  await vi.waitFor(() => expect(platform.checkpoints.size).toBe(2), patient);
});

test.concurrent("a checkpoint that has waited for a day is named in the trial's log", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealed(first, 1)}; ${sealed(second)}`);
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(
    () =>
      expect(platform.texts(launch)).toEqual([
        expect.stringContaining("1 checkpoint of this run waited for more than a day"),
      ]),
    patient,
  );
});

test.concurrent("an output file that lost its end in a power cut delays neither lines nor checkpoints", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealed(first)}; for n in 1 2 3 4 5 6; do echo line $n; done`);
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toHaveLength(6), patient);
  await stage.stopAgent();
  const output = join(stage.folderOf(launch), "output", "000000000001.ndjson");
  truncateSync(output, 40);
  writeFileSync(output, '[1,1,"a later writer ends a line inside of which the reader begins"]\n', {
    flag: "a",
  });
  writeFileSync(output, `[3,2,"${"x".repeat(200)}"]\n`, { flag: "a" });
  writeFileSync(output, '[3,3,"after"]\n', { flag: "a" });
  platform.checkpointStatus = 200;
  await stage.startAgent();
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
  await vi.waitFor(() => expect(platform.texts(launch).at(-1)).toBe("after"), patient);
  expect(platform.texts(launch)).toContainEqual(expect.stringContaining("could not be read"));
});

test.concurrent("no delivery of a run ends another", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealed(first)}; echo line`);
  platform.run(launch);
  await platform.ended(launch);
  await stage.stopAgent();
  // The reader of the lines fails: a folder is in the place of its file.
  const output = join(stage.folderOf(launch), "output", "000000000001.ndjson");
  rmSync(output);
  rmSync(join(stage.folderOf(launch), "shipped.json"), { force: true });
  mkdirSync(output);
  platform.checkpointStatus = 200;
  // Longer than the end waits for lines: the failure is known before the answer is.
  platform.checkpointAnswerMs = limits.beforeOldEndMs + 500;
  await stage.startAgent();
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
});

test.concurrent("a checkpoint of a delivered run is counted while it is offered again", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = launchOf(sealed(first));
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.report?.undelivered).toBeUndefined(), patient);
  platform.checkpoints.clear();
  platform.tooEarly.add(first);
  platform.epoch += 1;
  platform.send();
  const counted = { checkpoints: 1, bytes: 0, runs: [launch.allocation] };
  await vi.waitFor(() => expect(platform.report?.undelivered).toEqual(counted), patient);
  platform.tooEarly.clear();
  platform.epoch += 1;
  platform.send();
  await vi.waitFor(() => expect(platform.report?.undelivered).toBeUndefined(), patient);
  expect([...platform.checkpoints.keys(), ...recordsOf(stage, launch)]).toEqual([first]);
});

test.concurrent("a complete checkpoint is offered again to a platform that lacks it, after a start and when the epoch rises", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  const launch = launchOf(sealed(first));
  platform.run(launch);
  await platform.ended(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
  expect(recordsOf(stage, launch)).toEqual([]);
  platform.unwant(launch);
  const completed = platform.checkpoints.get(first);
  for (const begin of ["start", "epoch"]) {
    platform.checkpoints.clear();
    if (begin === "start") {
      await stage.stopAgent();
      await stage.startAgent();
    } else {
      platform.epoch += 1;
      platform.send();
    }
    await vi.waitFor(() => expect(platform.checkpoints.get(first)).toEqual(completed), patient);
    await vi.waitFor(() => expect(recordsOf(stage, launch)).toEqual([]), patient);
  }
  const { checkpointRequests } = platform;
  platform.epoch += 1;
  platform.send();
  // One that the platform has is only looked at.
  await vi.waitFor(() => expect(platform.checkpointRequests).toBe(checkpointRequests + 1), patient);
  expect(existsSync(join(checkpoints, first, "model"))).toBe(true);
});
