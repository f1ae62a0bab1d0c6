/**
 * Tests of the devices of containers without a GPU: a strict fake engine replaces Docker, and Podman reads a CDI
 * specification.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import { configured, launchOf, removeFolders } from "./testing/examples.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { FakePrograms } from "./testing/fake-program.ts";
import { needPodman, Podman, testImage } from "./testing/podman.ts";

vi.setConfig({ testTimeout: 120_000 });
afterAll(removeFolders);

const first = { uuid: `GPU-aaaaaaaa-${process.pid}` };
const second = { uuid: `GPU-bbbbbbbb-${process.pid}` };

let stack: AsyncDisposableStack;

beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

async function worldWith(socket: string, runtime: string): Promise<ContainerWorld> {
  const programs = new FakePrograms();
  programs.writeNvidiaSmi([first, second]);
  const world = stack.use(
    await ContainerWorld.open(socket, {
      ...programs.variables,
      TRAINYARD_AGENT_SLOT_TYPE: "cuda",
      TRAINYARD_AGENT_RUNTIME: runtime,
    }),
  );
  await world.startAgent({
    TRAINYARD_AGENT_MEMORY: "1G",
    TRAINYARD_AGENT_CONTAINER_DEVICES: "/dev/zero",
  });
  return world;
}

test("Docker is asked for exactly the GPUs of the run's slots", async () => {
  const engine = stack.use(await FakeEngine.start([first.uuid, second.uuid]));
  const world = await worldWith(engine.socket, "auto");
  const launch = launchOf("echo never", {
    ...configured({ environment: { image: { cpu: "any/cpu:1", gpu: "any/cuda:1" } } }, "cuda"),
    slots: [second.uuid],
  });
  const { exit } = await world.ended(launch);
  const [body] = engine.made;
  expect(body).toMatchObject({
    Image: "any/cuda:1",
    HostConfig: {
      Memory: 1024 ** 3,
      MemorySwap: 1024 ** 3,
      Devices: [],
      DeviceRequests: [
        { Driver: "nvidia", Count: 0, DeviceIDs: [second.uuid], Capabilities: [["gpu"]] },
      ],
    },
  });
  expect(body?.["Env"]).toContain(`CUDA_VISIBLE_DEVICES=${second.uuid}`);
  // The fake engine provides no device, and a run with GPU slots must not train without one.
  expect(exit).toMatchObject({
    code: 126,
    message: expect.stringContaining("has no GPU although"),
  });
});

test("a GPU that the engine does not know is named as the reason of the failed launch", async () => {
  const engine = stack.use(await FakeEngine.start([first.uuid]));
  const world = await worldWith(engine.socket, "docker");
  const launch = launchOf("true", { ...inImage("any/cuda:1"), slots: [second.uuid] });
  expect(await world.ended(launch)).toMatchObject({
    launchFailed: true,
    exit: {
      message: `the agent could not start it: the container engine refused: unknown device ${second.uuid}`,
    },
  });
});

test("Podman gives a run the GPUs of its slots by their CDI names", async ({ skip }) => {
  needPodman(skip);
  const folder = "/var/run/cdi";
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `trainyard-test-${process.pid}.json`);
  stack.defer(() => rmSync(file, { force: true }));
  // The device file that NVIDIA's toolkit makes for a GPU, replaced by /dev/null.
  const node = { path: "/dev/nvidiactl", hostPath: "/dev/null", type: "c", major: 1, minor: 3 };
  const devices = [first, second].map(({ uuid }) => ({
    name: uuid,
    containerEdits: { env: [`GIVEN_${uuid.slice(4, 8)}=yes`], deviceNodes: [node] },
  }));
  writeFileSync(file, JSON.stringify({ cdiVersion: "0.3.0", kind: "nvidia.com/gpu", devices }));
  const podman = stack.use(await Podman.start());
  const world = await worldWith(podman.socket, "podman");
  const device = { host_path: "/dev/zero", container_path: "/dev/other", mode: "r" };
  const launch = launchOf(
    `env | grep ^GIVEN; df -m /dev/shm | tail -1 | tr -s ' ' | cut -d ' ' -f 2; pwd; head -c 3 /dev/other | wc -c; grep NoNewPrivs /proc/self/status`,
    {
      ...inImage(testImage, { resources: { shm_size: "96M", devices: [device] } }),
      slots: [second.uuid],
    },
  );
  expect((await world.ended(launch)).exit).toMatchObject({ code: 0 });
  expect(world.platform.texts(launch)).toEqual([
    "GIVEN_bbbb=yes",
    "96",
    join(world.pathOf(launch), "work", "1"),
    "3",
    "NoNewPrivs:\t1",
  ]);
  expect(podman.containers()).toEqual([]);
});
