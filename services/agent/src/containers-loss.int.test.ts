/** Tests of containers whose agent, supervisor or engine is killed. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { carries, isAlive } from "@trainyard/kernel/process-identity";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { markOfRun } from "./testing/agent-config.ts";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import { launchOf, removeFolders, runAt } from "./testing/examples.ts";
import { needPodman, Podman, podmanProblem, testImage } from "./testing/podman.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });
const patient = { timeout: 90_000, interval: 50 };

let podman: Podman;
let world: ContainerWorld;

beforeAll(async () => {
  if (podmanProblem() === null) podman = await Podman.start();
});
afterAll(async () => {
  if (podmanProblem() === null) await podman[Symbol.asyncDispose]();
  removeFolders();
});
beforeEach(async ({ skip }) => {
  needPodman(skip);
  world = await ContainerWorld.open(podman.socket);
  await world.startAgent();
});
afterEach(async () => {
  if (podmanProblem() !== null) return;
  await world[Symbol.asyncDispose]();
  expect(podman.containers()).toEqual([]);
});

/** Prints a first line, and then one line for each file that the test makes in the script's folder. */
const talking = `echo up; n=1; while [ ! -e "$TRAINYARD_RUN_DIR/end" ]; do
  if [ -e "$TRAINYARD_RUN_DIR/say$n" ]; then echo "said $n"; n=$((n + 1)); fi; sleep 0.05; done; echo bye; exit 4`;

async function running() {
  const launch = launchOf(talking, inImage());
  world.platform.run(launch);
  await vi.waitFor(() => expect(world.platform.texts(launch)).toEqual(["up"]), patient);
  const make = (name: string): void => writeFileSync(join(world.pathOf(launch), "run", name), "");
  const leader = runAt(world.pathOf(launch))?.process ?? null;
  if (leader === null) throw new Error("it has no process");
  return { launch, make, leader };
}

function onlyContainer(): string {
  const [name = ""] = podman.containers();
  return name;
}

test("a container outlives its agent, and the next agent adopts it with its lines and its exit code", async () => {
  const { platform } = world;
  const { launch, make } = await running();
  await world.stopAgent();
  make("say1");
  await world.startAgent();
  await platform.up(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "said 1"]), patient);
  await world.stopAgent();
  make("end");
  await vi.waitFor(() => expect(podman.containers()).toEqual([]), patient);
  await world.startAgent();
  expect((await platform.ended(launch)).exit).toMatchObject({ code: 4 });
  expect(platform.texts(launch)).toEqual(["up", "said 1", "bye"]);
});

test("a container of a test has the mark of the test run, by which it ends when the runner is killed", async () => {
  const { leader } = await running();
  expect(markOfRun()).toEqual({ TY_TEST_RUN: expect.stringMatching(/./) });
  for (const [name, value] of Object.entries(markOfRun())) {
    expect(carries(leader.pid, name, value)).toBe(true);
  }
});

test("a killed supervisor's container is ended too, also if no agent runs at that time", async () => {
  const { platform } = world;
  const { launch, leader } = await running();
  await world.stopAgent();
  process.kill(runAt(world.pathOf(launch))?.supervisor?.pid ?? 0, "SIGKILL");
  await world.startAgent();
  const { exit } = await platform.ended(launch);
  expect(exit?.message).toContain("supervisor was killed");
  expect(isAlive(leader)).toBe(false);
  await vi.waitFor(() => expect(podman.containers()).toEqual([]), patient);
});

test("lines of a run reach the platform while the engine is down, and its exit code does once the engine is back", async () => {
  const { platform } = world;
  const { launch, make, leader } = await running();
  await podman.down();
  try {
    make("say1");
    await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "said 1"]), patient);
    make("end");
    await vi.waitFor(() => expect(isAlive(leader)).toBe(false), patient);
    await vi.waitFor(() => expect(platform.texts(launch)).toContain("bye"), patient);
    expect(runAt(world.pathOf(launch))?.exit).toBeNull();
  } finally {
    await podman.up();
  }
  expect((await platform.ended(launch)).exit).toMatchObject({ code: 4 });
});

test("a run can be killed while the engine is down", async () => {
  const { platform } = world;
  const { launch, leader } = await running();
  await podman.down();
  try {
    platform.kill(launch);
    await vi.waitFor(() => expect(isAlive(leader)).toBe(false), patient);
  } finally {
    await podman.up();
  }
  expect(await platform.ended(launch)).toMatchObject({ killed: true, exit: { signal: "SIGKILL" } });
});

test("an engine that does not answer is named as the reason of the failed launch", async () => {
  await podman.down();
  try {
    const { exit, launchFailed } = await world.ended(launchOf("true", inImage()));
    expect(launchFailed).toBe(true);
    expect(exit?.message).toMatch(/^the container engine at \S+ does not answer \(E[A-Z]+\)$/);
  } finally {
    await podman.up();
  }
});

test("a container that was removed by hand is reported as a lost run, without a failure of the run", async () => {
  const { launch } = await running();
  podman.run("rm", "--force", "--time=0", onlyContainer());
  const { exit, launchFailed } = await world.platform.ended(launch);
  expect(launchFailed).toBe(false);
  // Depending on the timing, the engine still knows the end, or has forgotten the container.
  expect(exit?.code).toBeUndefined();
  expect(exit?.message).toMatch(/its container was removed|ended by SIGKILL/);
});

test("an agent removes its own containers without a run here, and no other agent's", async () => {
  await world.stopAgent();
  const { id } = JSON.parse(readFileSync(join(world.folder, "folder.json"), "utf8")) as {
    id: string;
  };
  const stray = (name: string, folder: string): void => {
    const labels = [`trainyard.agent-folder=${folder}`, "trainyard.allocation=9.9#9"];
    const options = labels.flatMap((label) => ["--label", label]);
    podman.run(
      "run",
      "--detach",
      "--network=host",
      "--name",
      name,
      ...options,
      testImage,
      "sleep",
      "1000",
    );
  };
  stray("ours", id);
  stray("theirs", "another");
  await world.startAgent();
  await vi.waitFor(() => expect(podman.containers()).toEqual(["theirs"]), patient);
  podman.run("rm", "--force", "--time=0", "theirs");
});
