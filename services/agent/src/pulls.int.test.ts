import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import { launchOf, newFolder, removeFolders } from "./testing/examples.ts";
import { imageTar } from "./testing/image.ts";
import { needPodman, Podman, podmanProblem } from "./testing/podman.ts";
import { TestRegistry } from "./testing/registry.ts";

let registry: TestRegistry;
let podman: Podman;
let world: ContainerWorld | null = null;

beforeAll(async () => {
  if (podmanProblem() !== null) return;
  const tar = await imageTar();
  registry = await TestRegistry.start(tar);
  podman = await Podman.start(tar, registry.host);
});
afterAll(async () => {
  if (podmanProblem() === null) {
    await podman[Symbol.asyncDispose]();
    await registry[Symbol.asyncDispose]();
  }
  removeFolders();
});
beforeEach(async ({ skip }) => {
  needPodman(skip);
  registry.wants = "";
  registry.failures = { count: 0, status: 503 };
  registry.manifestRequests = 0;
  world = await ContainerWorld.open(podman.socket);
});
afterEach(async () => {
  await world?.[Symbol.asyncDispose]();
  world = null;
});

const current = (): ContainerWorld => {
  if (world === null) throw new Error("no world");
  return world;
};

async function endOf(image: string, more: object = {}) {
  const launch = launchOf("echo trained", inImage(image, more));
  const { exit, launchFailed } = await current().ended(launch);
  return { ...exit, launchFailed, texts: current().platform.texts(launch) };
}

test("an image that is missing on the host is pulled with lines in the log, and a passing failure is retried", async () => {
  await current().startAgent();
  registry.failures = { count: 2, status: 503 };
  const image = `${registry.host}/team/train:1`;
  const first = await endOf(image);
  expect(first).toMatchObject({ code: 0 });
  const { texts } = first;
  expect(texts[0]).toBe(`pulling image ${image}`);
  expect(texts.slice(-2)).toEqual([`image ${image} is here`, "trained"]);
  // The image is on the host now, so the registry is not asked again unless the configuration requires it.
  registry.manifestRequests = 0;
  expect((await endOf(image)).texts).toEqual(["trained"]);
  expect(registry.manifestRequests).toBe(0);
  const forced = await endOf(image, { environment: { force_pull_image: true } });
  expect(forced.texts).toContain(`pulling image ${image}`);
  expect(registry.manifestRequests).toBeGreaterThan(0);
});

test("an image that the registry does not have is requested once, and the run fails with the registry's reason", async () => {
  await current().startAgent();
  const image = `${registry.host}/team/other:9`;
  const { launchFailed, code, message, texts } = await endOf(image);
  expect({ launchFailed, code }).toEqual({ launchFailed: false, code: 126 });
  expect(message).toContain(`the image ${image} could not be pulled: `);
  expect(message).toContain("manifest unknown");
  expect(texts.filter((text) => text === `pulling image ${image}`)).toHaveLength(1);
});

test("a registry that is broken is asked a few times before the launch fails", async () => {
  await current().startAgent();
  registry.failures = { count: 1_000, status: 500 };
  const image = `${registry.host}/team/train:broken`;
  const { launchFailed, message, texts } = await endOf(image);
  expect(launchFailed).toBe(true);
  expect(message).toMatch(/could not be pulled in 4 attempts: /);
  expect(texts.filter((text) => text === `pulling image ${image}`)).toHaveLength(4);
});

test("the agent's auth file gives access to a registry, and without it the registry's refusal is the reason", async () => {
  registry.wants = "yard:secret";
  const image = `${registry.host}/team/train:1`;
  const force = { environment: { force_pull_image: true } };
  await current().startAgent();
  const refused = await endOf(image, force);
  expect(refused).toMatchObject({ launchFailed: false, code: 126 });
  expect(refused.message).toMatch(/unauthorized|authentication required/);
  await current().stopAgent();
  const file = join(newFolder(), "auth.json");
  const auth = Buffer.from("yard:secret").toString("base64");
  writeFileSync(file, JSON.stringify({ auths: { [registry.host]: { auth } } }));
  await current().startAgent({ TRAINYARD_AGENT_REGISTRY_AUTH_FILE: file });
  expect(await endOf(image, force)).toMatchObject({ code: 0 });
});

test("a launch that is killed while its image is pulled never starts", async () => {
  await current().startAgent();
  registry.failures = { count: 1_000, status: 500 };
  const launch = launchOf("true", inImage(`${registry.host}/team/train:slow`));
  const { platform } = current();
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch).length).toBeGreaterThan(1), {
    timeout: 90_000,
  });
  platform.kill(launch);
  expect(await platform.ended(launch)).toMatchObject({ killed: true, pid: 0, launchFailed: false });
});
