/** A notebook in a container: its page through the tunnel of its run, and programs beside it. */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import type { Tunnel } from "@trainyard/tunnel";
import { type ContainerWorld, inImage } from "./container-world.ts";
import { newFolder, taskOf } from "./examples.ts";
import { HolderClient } from "./holder-client.ts";
import { needPackages, sharedPackages } from "./page-servers.ts";
import { testImage } from "./podman.ts";

/** Scripts that make files in the task's folder, and print what became of them. */
export const writing = "echo mine > notes; chmod 640 notes; head -c 9000000 /dev/zero > big";
export const reading = "stat -c '%a %u' notes; cat notes; stat -c %s big";

export function notebookInContainer(): Plain<Launch> {
  const path = sharedPackages;
  const bind_mounts = [{ host_path: path, container_path: path, read_only: true }];
  return taskOf("notebook", "", inImage(testImage, { bind_mounts }));
}

/** Starts an agent that may mount the packages of tests, which are links to a shared folder. */
export async function startNotebookAgent(
  world: ContainerWorld,
  url: string,
  skip: (note: string) => never,
): Promise<void> {
  await needPackages(world.folder, ["notebook"], skip);
  world.platform.checkpointRoot = newFolder();
  mkdirSync(sharedPackages, { recursive: true });
  await world.startAgent({
    TRAINYARD_API_URL: url,
    TRAINYARD_CHECKPOINT_DIR: world.platform.checkpointRoot,
    TRAINYARD_SDK_PATH: join(import.meta.dirname, "../../../../libs/sdk-python/src"),
    TRAINYARD_AGENT_CONTAINER_HOST_PATHS: sharedPackages,
  });
}

/** The next run of a task, from a save. */
export function nextRun(launch: Plain<Launch>, latestCheckpoint: string): Plain<Launch> {
  const run = launch.run + 1;
  return { ...launch, run, allocation: `${launch.task?.id}#${run}`, latestCheckpoint };
}

export async function pageThrough(tunnel: Tunnel | undefined, secret: string) {
  if (tunnel === undefined) throw new Error("the run has no tunnel");
  const stream = await tunnel.open("page");
  const headers = { host: "t1.localhost", "x-trainyard-task-secret": secret };
  const sent = request({ path: "/lab", createConnection: () => stream, headers }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

/** Runs a shell's script in the container, in the task's folder. Returns what it prints. */
export async function printed(path: string, script: string): Promise<string> {
  const hello = { open: "exec", command: ["sh", "-c", script] } as const;
  using program = await HolderClient.open(join(path, "run"), hello);
  await program.ended();
  return program.text();
}
