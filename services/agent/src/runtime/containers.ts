/** Runs as containers of Docker or Podman. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type Docker from "dockerode";
import type { Plain } from "@trainyard/contracts";
import type { Container } from "@trainyard/contracts/agent";
import { type Clock, Fault } from "@trainyard/kernel";
import {
  cdiNames,
  type ContainerSettings,
  containerBody,
  type EngineKind,
  keyOfLabels,
  labelNames,
  labelsOf,
} from "../core/container-body.ts";
import { libpodBody } from "../core/libpod-body.ts";
import { environmentOf, type StoragePlaces } from "../core/environment.ts";
import { type Python, sayOnce, untilAnswered } from "./until-answered.ts";
import { bounded, engineAt, isGone, problemOf } from "./engine.ts";
import { EngineWatch } from "./engine-watch.ts";
import { allowedSection, calledFolders, checkSaveRoot, storageMounts } from "./host-access.ts";
import { packagesRootOf } from "../servers/command.ts";
import { isPageKind } from "../servers/kinds.ts";
import { commandIn } from "./processes.ts";
import { ensureImage } from "./pull.ts";
import { LaunchProblem, type Launching, type Runtime } from "./runtime.ts";
import { boardFolderOf } from "../tensorboard/board-folder.ts";
import { heldCommandIn } from "./task-holder.ts";

export type ContainerRuntimeSettings = ContainerSettings & {
  readonly engine: EngineKind;
  readonly socket: string;
  /** The file with the registries' credentials; empty for none. */
  readonly authFile: string;
  /** The time limit of a pull, all attempts together. */
  readonly pullTimeoutMs: number;
  /** The address of the services for processes in a container. */
  readonly apiUrl: string;
  readonly metricsUrl: string;
  readonly sdkPath: string | null;
  readonly python: Python;
  /** The agent's own checkpoint folder; empty for none. */
  readonly checkpointDir: string;
  /** The name of the agent. */
  readonly agent: string;
  /** The id of the agent's state folder, by which it finds its containers. */
  readonly folder: string;
  readonly clock: Clock;
};

/** The folder with the pipes of a run's output, in the run's folder. */
const pipesName = "pipes";
const nameCharsMax = 60;

export function containerRuntime(settings: ContainerRuntimeSettings): Runtime {
  const engine = engineAt(settings.socket);
  return {
    mechanism: "container",
    engine: new EngineWatch(settings.engine, settings.socket, settings.clock),
    // A container's /dev/shm goes with it.
    sharesMemory: false,
    order: (launching, signal) => orderOf(engine, settings, launching, signal),
    sweep: (running) => sweep(engine, settings, running),
  };
}

async function orderOf(
  engine: Docker,
  settings: ContainerRuntimeSettings,
  { folder, work, slots, storages, onProgress }: Launching,
  signal: AbortSignal,
): ReturnType<Runtime["order"]> {
  const { launch, runDir, path } = folder;
  const {
    socket,
    clock,
    authFile,
    pullTimeoutMs: timeoutMs,
    apiUrl,
    metricsUrl,
    sdkPath,
  } = settings;
  const { container: section } = launch;
  if (section === undefined) throw new LaunchProblem("the launch describes no container");
  const image = section.image || settings.image;
  if (image === "") {
    throw new LaunchProblem(
      `the configuration has no environment.image, and agent ${settings.agent}, which runs containers, has no image of its own (TRAINYARD_AGENT_IMAGE)`,
    );
  }
  const say = (text: string): void => folder.say(text);
  const waits = sayOnce(say, settings.agent);
  const onHost = () => partsOfHost(section, storages, { waits, settings, signal });
  // Checked before the pull, which may take long, and after it, since links may have changed.
  await onHost();
  const deps = { engine, socket, clock, authFile, timeoutMs, say, onProgress };
  const { env } = await ensureImage(image, section.forcePull, deps, signal);
  const { allowed, ...mounts } = await onHost();
  const home = folder.keepsWork ? work : null;
  const inherited = pathsOf(env);
  const surroundings = { apiUrl, metricsUrl, sdkPath, runDir, home, storages, slots, inherited };
  const environment = { ...environmentOf(launch, surroundings), PWD: work };
  const { argv: command, holder } = heldCommandIn(image, folder, afterItsCommands);
  const argv = commandIn(work, command);
  const pipes = join(path, pipesName);
  const board = boardFolderOf(folder);
  const labels = labelsOf(settings.folder, launch);
  const packages = isPageKind(launch.task?.kind ?? "") ? packagesRootOf(folder) : null;
  const places = {
    image,
    packages,
    argv,
    environment,
    runDir,
    pipes,
    work,
    sdkPath,
    holder,
    board,
    ...mounts,
  };
  // People reach a task's ports through its tunnel.
  const published = folder.isTask ? { ...allowed, proxyPorts: [] } : allowed;
  const body = containerBody({ ...places, slots, labels }, published, settings, settings.engine);
  const name = containerName(launch.allocation, path);
  const cdi = settings.engine === "podman" ? cdiNames(slots) : [];
  const libpod = cdi.length === 0 ? {} : { libpod: libpodBody(name, body, cdi) };
  return { socket, name, pipes, body, ...libpod };
}

/** Waits for the folders that the run needs. Throws if one is not allowed or not there. */
async function partsOfHost(
  section: Plain<Container>,
  storages: StoragePlaces,
  launch: {
    readonly waits: (folder: string) => void;
    readonly settings: ContainerRuntimeSettings;
    readonly signal: AbortSignal;
  },
) {
  const { waits, settings, signal } = launch;
  await untilAnswered(settings.python, calledFolders(section, storages, settings), waits, signal);
  checkSaveRoot(storages, settings);
  return {
    allowed: allowedSection(section, settings),
    // A mounted folder must exist, while a process makes it with its first checkpoint.
    storageFolders: storageMounts(storages, settings),
  };
}

/**
 * A container ends with its first process. So the shell of an entrypoint first lets its commands end at SIGTERM, and
 * then ends by the signal.
 */
const afterItsCommands = `trap 'trap - TERM; wait; kill -TERM $$' TERM; `;

/** The image's paths, which the run's are put before; the engine adds the image's other variables itself. */
function pathsOf(env: readonly string[]): Readonly<Record<string, string>> {
  const found = env.filter((variable) => /^(?:PYTHONPATH|PATH)=/.test(variable));
  return Object.fromEntries(
    found.map((variable) => {
      const [name = ""] = variable.split("=", 1);
      return [name, variable.slice(name.length + 1)] as const;
    }),
  );
}

/** A name for each run and state folder, by which the next agent finds the containers of a killed one. */
export function containerName(allocation: string, runFolder: string): string {
  const digest = createHash("sha256").update(runFolder).digest("hex").slice(0, 16);
  const plain = allocation.replaceAll(/[^A-Za-z0-9_.-]/g, "-").slice(0, nameCharsMax);
  return `trainyard-${plain}-${digest}`;
}

/** Removes all containers of ended runs; throws at the end if one could not be removed. */
async function sweep(
  engine: Docker,
  { folder, socket }: ContainerRuntimeSettings,
  running: () => ReadonlySet<string>,
): Promise<void> {
  const filters = { label: [`${labelNames.folder}=${folder}`] };
  const problems: unknown[] = [];
  try {
    const found = await engine.listContainers({ all: true, filters, abortSignal: bounded() });
    // The running runs are read after the list: a run launched since is not in the list, and one that ended since may
    // be removed.
    const held = running();
    for (const { Id, Labels } of found) {
      if (held.has(keyOfLabels(Labels))) continue;
      const container = engine.getContainer(Id);
      await container
        .remove({ force: true, v: true, abortSignal: bounded() })
        .catch((error: unknown) => {
          if (!isGone(error)) problems.push(error);
        });
    }
  } catch (error) {
    throw new Fault("engine_away", problemOf(error, socket), { retry: "later", cause: error });
  }
  if (problems.length === 0) return;
  const text = `${problems.length} containers were not removed: ${problemOf(problems[0], socket)}`;
  throw new Error(text, { cause: problems[0] });
}
