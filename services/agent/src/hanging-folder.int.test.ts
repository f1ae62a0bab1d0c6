/** Folders of runs in a mount that hangs: each call of the file system returns when the server of the mount is back. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, expect, test, vi } from "vitest";
import { createService } from "./service.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { ContainerWorld, inImage } from "./testing/container-world.ts";
import { launchOf, newFolder, removeFolders } from "./testing/examples.ts";
import { FakeEngine } from "./testing/fake-engine.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

const program = join(import.meta.dirname, "../../../test/edges/hanging_mount.py");
/** The mount goes by itself: an agent that waits for it could not end the test. */
const hangsSeconds = "25";

async function hang(root: string): Promise<(() => void) | null> {
  const mount = spawn("timeout", [hangsSeconds, "python3", program, root], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(mount, "exit").then(() => false);
  const isMounted = await Promise.race([once(mount.stdout, "data").then(() => true), ended]);
  return isMounted ? () => void mount.kill("SIGTERM") : null;
}

async function waitsFor(root: string, platform: ScriptedPlatform, launch: Plain<Launch>) {
  const sentence = `the launch waits for ${root}, which does not answer on agent rack`;
  await vi.waitFor(() => expect(platform.texts(launch)).toContain(sentence), 15_000);
}

test("a launch waits for a folder that does not answer, says so, and stops no other run of its agent", async ({
  skip,
}) => {
  const root = join(newFolder(), "data");
  mkdirSync(root);
  await using engine = await FakeEngine.start([]);
  await using world = await ContainerWorld.open(engine.socket, {
    TRAINYARD_AGENT_RUNTIME: "docker",
    TRAINYARD_AGENT_CONTAINER_HOST_PATHS: root,
  });
  await world.startAgent();
  const release = await hang(root);
  if (release === null) notRun(skip, "the right to mount, and /dev/fuse");
  const mounts = { bind_mounts: [{ host_path: root, container_path: "/data" }] };
  const waiting = launchOf("exit 4", inImage("any:1", mounts));
  world.platform.run(waiting);
  try {
    await waitsFor(root, world.platform, waiting);
    expect((await world.ended(launchOf("exit 3", inImage("any:1")))).exit?.code).toBe(3);
  } finally {
    release();
  }
  expect((await world.platform.ended(waiting)).exit?.code).toBe(4);
});

test("a launch with a user of its own waits for a checkpoint folder that does not answer, and its agent reports other runs", async ({
  skip,
}) => {
  if (process.getuid?.() !== 0) notRun(skip, "root, who may start processes of other users");
  const parent = newFolder();
  chmodSync(parent, 0o711);
  const root = join(parent, "checkpoints");
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const config = agentConfig(platform.url, {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TRAINYARD_AGENT_DIR: newFolder(),
    TRAINYARD_AGENT_USER_IDS: "1900000000-1900000099",
    TRAINYARD_CHECKPOINT_DIR: root,
  });
  const logger = createLogger("agent", "silent");
  await using agent = await createService(config, { bus: hub.connect("agent-rack"), logger });
  await agent.start();
  const end = join(parent, "end");
  const running = launchOf(`while [ ! -e ${end} ]; do sleep 0.05; done; exit 3`);
  platform.run(running);
  await platform.up(running);
  const release = await hang(root);
  if (release === null) notRun(skip, "the right to mount, and /dev/fuse");
  const waiting = launchOf("exit 4");
  platform.run(waiting);
  try {
    await waitsFor(root, platform, waiting);
    writeFileSync(end, "");
    expect((await platform.ended(running)).exit?.code).toBe(3);
  } finally {
    release();
  }
  expect((await platform.ended(waiting)).exit?.code).toBe(4);
});
