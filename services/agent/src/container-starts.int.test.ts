/** Starts of containers on a strict fake engine that fails now and then. */
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { livingProcesses } from "@trainyard/kernel/process-identity";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import { launchOf, newFolder, removeFolders, taskOf } from "./testing/examples.ts";
import { FakeEngine } from "./testing/fake-engine.ts";

afterAll(removeFolders);

let stack: AsyncDisposableStack;
let engine: FakeEngine;
let world: ContainerWorld;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  engine = stack.use(await FakeEngine.start([]));
  world = stack.use(
    await ContainerWorld.open(engine.socket, { TRAINYARD_AGENT_RUNTIME: "docker" }),
  );
  await world.startAgent();
});
afterEach(() => stack.disposeAsync());

let markers = 0;

function withText(text: string): number {
  return livingProcesses().filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  }).length;
}

test.each([
  ["creates no container", { call: "POST create", times: 2 }],
  ["creates the container and fails", { call: "POST create", times: 1, done: true }],
  ["starts no container", { call: "POST start", times: 2 }],
  ["starts the container and fails", { call: "POST start", times: 1, done: true }],
  [
    "starts the container and does not answer",
    { call: "POST start", times: 1, done: true, silent: true },
  ],
  ["does not name the container's init process", { call: "GET json", times: 2 }],
])("an engine that %s at first costs no run, and the run starts once", async (_, fault) => {
  engine.faults.push(fault);
  const launch = launchOf("echo trained; sleep 0.2; exit 3", inImage("any:1"));
  const { exit, launchFailed } = await world.ended(launch);
  expect({ launchFailed, code: exit?.code }).toEqual({ launchFailed: false, code: 3 });
  expect(world.platform.texts(launch)).toContain("trained");
  expect([...engine.starts.values()]).toEqual([1]);
  expect(engine.containers).toEqual([]);
});

test("a run that ends before its engine reports the end has its exit code", async () => {
  engine.endUnsaidMs = 1_500;
  const { exit, launchFailed } = await world.ended(launchOf("exit 3", inImage("any:1")));
  expect({ launchFailed, code: exit?.code }).toEqual({ launchFailed: false, code: 3 });
});

test("an engine that keeps failing fails the launch with the engine's message", async () => {
  engine.faults.push({ call: "POST create", times: 1_000 });
  const { exit, launchFailed } = await world.ended(launchOf("true", inImage("any:1")));
  expect(launchFailed).toBe(true);
  expect(exit?.message).toBe(
    "the agent could not start it: the container engine refused: the played engine is unwell",
  );
});

test("a container whose start is abandoned is ended and removed before the launch is reported as failed", async () => {
  markers += 1;
  const marker = `86${process.pid}.${markers}`;
  engine.faults.push({ call: "GET json", times: 1_000 }, { call: "DELETE", times: 4 });
  const launch = launchOf(`exec sleep ${marker}`, inImage("any:1"));
  const { launchFailed } = await world.ended(launch);
  expect({ launchFailed, living: withText(marker), containers: engine.containers }).toEqual({
    launchFailed: true,
    living: 0,
    containers: [],
  });
});

test("a port that is in use on this host fails the launch as a fault of the host, so that the run is tried on another agent", async () => {
  await world.stopAgent();
  await world.startAgent({ TRAINYARD_AGENT_CONTAINER_NETWORK: "bridge" });
  engine.takenPorts.push("6006");
  const ports = { environment: { proxy_ports: [{ proxy_port: 6006 }] } };
  expect(await world.ended(launchOf("true", inImage("any:1", ports)))).toMatchObject({
    launchFailed: true,
    lacking: true,
    exit: {
      message:
        "a port of environment.proxy_ports is taken on this host: Bind for 0.0.0.0:6006 failed: port is already allocated",
    },
  });
  expect(engine.containers).toEqual([]);
});

test("a task whose image has no Python ends with one sentence, and another one runs under its holder", async () => {
  const programs = newFolder();
  for (const name of ["sh", "echo"]) symlinkSync(`/bin/${name}`, join(programs, name));
  const image = inImage("slim:1");
  const without = taskOf("command", "echo never", {
    ...image,
    environmentVariables: [`PATH=${programs}`],
  });
  expect((await world.ended(without)).exit).toMatchObject({
    code: 126,
    message:
      "exited with code 126: the image slim:1 has no python3, which every task needs: name an image with Python 3.7 or later in environment.image",
  });
  const held = taskOf("command", 'echo "$TRAINYARD_TASK_ID"; exit 3', image);
  expect((await world.ended(held)).exit?.code).toBe(3);
  expect(world.platform.texts(held)).toEqual([held.task?.id]);
});

test("the folder of a task in a container is saved nowhere but where the operator allows it", async () => {
  const place = newFolder();
  const config = {
    keep_work: true,
    checkpoint_storage: { type: "directory", container_path: place },
  };
  const kept = taskOf("command", "true", inImage("any:1", config));
  expect((await world.ended(kept)).exit).toMatchObject({
    code: 126,
    message: expect.stringContaining(`checkpoint_storage names ${place}, which agent`),
  });
  expect(readdirSync(place)).toEqual([]);
});

test("a task publishes no port on the host, in whose place people have its tunnel", async () => {
  await world.stopAgent();
  await world.startAgent({ TRAINYARD_AGENT_CONTAINER_NETWORK: "bridge" });
  const ports = { environment: { proxy_ports: [{ proxy_port: 6006 }] } };
  const launches = [
    launchOf("true", inImage("any:1", ports)),
    taskOf("command", "true", inImage("any:1", ports)),
  ];
  for (const launch of launches) await world.ended(launch);
  const published = engine.made.map(
    ({ HostConfig }) => (HostConfig as { PortBindings?: object }).PortBindings,
  );
  expect(published).toEqual([{ "6006/tcp": [{ HostPort: "6006" }] }, undefined]);
});
