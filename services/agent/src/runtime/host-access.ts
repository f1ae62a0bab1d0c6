/**
 * The parts of a host that configurations may use in containers: only those that the agent's operator has named. Paths
 * are compared after all links are resolved, and the resolved paths are mounted.
 */
import { mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Container } from "@trainyard/contracts/agent";
import type { HostAccess } from "../core/container-body.ts";
import type { StoragePlaces } from "../core/environment.ts";
import { HostProblem, LackProblem, LaunchProblem } from "./runtime.ts";

export type HostPlaces = {
  readonly access: HostAccess;
  /** The agent's own checkpoint folder, which every run may use; empty for none. */
  readonly checkpointDir: string;
  /** The agent's name. */
  readonly agent: string;
};

const settings = {
  paths: "TRAINYARD_AGENT_CONTAINER_HOST_PATHS",
  devices: "TRAINYARD_AGENT_CONTAINER_DEVICES",
  capabilities: "TRAINYARD_AGENT_CONTAINER_CAPABILITIES",
} as const;

/** A run gets the GPUs of its slots only, so configurations may not name GPUs. A folder includes all devices in it. */
const gpuFile = /^\/dev\/(nvidia[^/]*|dri|kfd|dxg)(\/|$)/;
const withGpus = ["/", "/dev"];

/** The lowest port that a run may publish: lower ports belong to services of the host. */
const firstPort = 1_024;

/**
 * Returns the section with the real paths of its host; throws LaunchProblem for parts that are not allowed, LackProblem
 * for missing ones.
 */
export function allowedSection(section: Plain<Container>, places: HostPlaces): Plain<Container> {
  const { access, agent } = places;
  for (const name of section.addCapabilities) {
    if (allowsCapability(access.capabilities, name)) continue;
    throw refused("environment.add_capabilities", name, agent, settings.capabilities);
  }
  const reserved = section.proxyPorts.find(({ port }) => port < firstPort);
  if (reserved !== undefined) {
    throw new LaunchProblem(
      `environment.proxy_ports names ${reserved.port}: ports below ${firstPort} are the host's own`,
    );
  }
  const { storageMount } = section;
  const folder = (key: string, path: string): string => existing(key, path, "paths", places);
  return {
    ...section,
    devices: section.devices.map((device) => ({
      ...device,
      hostPath: allowedDevice(device.hostPath, places),
    })),
    bindMounts: section.bindMounts.map((mount) => ({
      ...mount,
      hostPath: folder("bind_mounts", mount.hostPath),
    })),
    ...(storageMount && {
      storageMount: {
        ...storageMount,
        hostPath: folder("checkpoint_storage", storageMount.hostPath),
      },
    }),
  };
}

/**
 * Returns the folders that the other functions call. A folder that is in no allowed one by its name may be in one that
 * is a link, so then they are all called.
 */
export function calledFolders(
  { bindMounts, storageMount: mount }: Plain<Container>,
  { checkpointRoot, tensorboardRoot, saveRoot = null }: StoragePlaces,
  { checkpointDir, access: { paths } }: HostPlaces,
): readonly string[] {
  const mounted = [...bindMounts, ...(mount ? [mount] : [])].map(({ hostPath }) => hostPath);
  const storages = [checkpointDir, checkpointRoot, tensorboardRoot, saveRoot];
  const isPath = (path: string | null): path is string => path !== null && path !== "";
  const folders = [...mounted, ...storages].filter(isPath);
  const known = [checkpointDir, ...paths].filter(isPath);
  const isKnown = (path: string): boolean =>
    known.some((prefix) => isWithin(resolve(path), resolve(prefix)));
  return folders.every(isKnown) ? folders : [...folders, ...paths];
}

/** The folders to mount for the run's checkpoints and TensorBoard files, each once. */
export function storageMounts(storages: StoragePlaces, places: HostPlaces): readonly string[] {
  const roots = [
    ["checkpoint_storage", storages.checkpointRoot],
    ["tensorboard_storage", storages.tensorboardRoot],
  ] as const;
  const folders = roots.flatMap(([key, root]) =>
    root === null || root === "" ? [] : [storageMount(key, root, places)],
  );
  return [...new Set(folders)];
}

/**
 * Throws LaunchProblem if the folder of a task's saves is not allowed: the agent, which may be root, would write there
 * what the container wants.
 */
export function checkSaveRoot({ saveRoot = null }: StoragePlaces, places: HostPlaces): void {
  if (saveRoot !== null) storageMount("checkpoint_storage", saveRoot, places);
}

/**
 * Returns the agent's own checkpoint folder if the root is in it, since no run can replace that folder by a link; else
 * the root. Creates a missing folder. Throws LaunchProblem if the root is not allowed.
 */
function storageMount(key: string, root: string, places: HostPlaces): string {
  const own = places.checkpointDir === "" ? null : resolve(places.checkpointDir);
  const isOwn = own !== null && isWithin(root, own);
  const folder = isOwn ? own : root;
  if (!isOwn) allowedPath(key, folder, "paths", places);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const text = `the folder ${folder} of ${key} cannot be made (${code}) on agent ${places.agent}`;
    throw new (isOwn ? HostProblem : LackProblem)(text, { cause });
  }
  return folder;
}

function allowedDevice(path: string, places: HostPlaces): string {
  const key = "resources.devices";
  const real = isAbsolute(path) ? realPath(path) : path;
  if ([resolve(path), real].some((at) => gpuFile.test(at) || withGpus.includes(at))) {
    throw new LaunchProblem(
      `${key} names ${path}, which has GPUs: a run has those of its slots and no others (resources.slots_per_trial)`,
    );
  }
  return existing(key, path, "devices", places);
}

function existing(
  key: string,
  path: string,
  kind: "paths" | "devices",
  places: HostPlaces,
): string {
  const real = allowedPath(key, path, kind, places);
  try {
    return realpathSync(real);
  } catch (cause) {
    // Engines would create a missing folder, or report it in unclear words.
    const { code = "" } = cause as NodeJS.ErrnoException;
    if (code === "ENAMETOOLONG") {
      throw new LaunchProblem(`${key} names a path that is too long: ${path}`, { cause });
    }
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    const what = isMissing ? "does not exist on" : `cannot be read (${code}) on`;
    const text = `${key} names ${path}, which ${what} agent ${places.agent}`;
    throw new LackProblem(text, { cause });
  }
}

function allowedPath(
  key: string,
  path: string,
  kind: "paths" | "devices",
  { access, checkpointDir, agent }: HostPlaces,
): string {
  const real = isAbsolute(path) ? realPath(path) : path;
  const isOwn =
    kind === "paths" && checkpointDir !== "" && real === realPath(resolve(checkpointDir));
  // Another allowed folder is called only if it may be a link to this one: its mount may hang.
  const isAllowed =
    access[kind].some((prefix) => isWithin(real, prefix)) ||
    access[kind].some((prefix) => isWithin(real, realPath(prefix)));
  if (isOwn || isAllowed) return real;
  throw refused(key, path === real ? path : `${path} (${real})`, agent, settings[kind]);
}

function refused(key: string, named: string, agent: string, setting: string): LaunchProblem {
  return new LaunchProblem(
    `${key} names ${named}, which agent ${agent} does not allow: its operator says in ${setting} what containers may have`,
  );
}

/**
 * Returns the real path; for a path that does not exist, the real path of its nearest existing folder with the rest
 * appended.
 */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function allowsCapability(allowed: readonly string[], name: string): boolean {
  return allowed.includes("*") || allowed.map(plainName).includes(plainName(name));
}

/** Engines treat CAP_SYS_PTRACE, SYS_PTRACE and sys_ptrace as equal. */
function plainName(capability: string): string {
  return capability.toUpperCase().replace(/^CAP_/, "");
}
