/**
 * The request to the engine for a launch: the body of POST /containers/create (Docker Engine API 1.41, which Podman's
 * service serves too). The folders of a run are mounted at their own paths, so that one path names the same file inside
 * and outside: the SDK's spool, the code and the checkpoints have the same paths as for a process.
 *
 * Its output goes through two named pipes of the run's folder, not through the engine: lines reach the supervisor while
 * the engine is down, and no line is stored twice. The engine's init is PID 1, so that signals act as on a process.
 */
import type { Plain } from "@trainyard/contracts";
import { type Container, type Launch, runKeyOf } from "@trainyard/contracts/agent";
import type { Slot } from "@trainyard/contracts/events";
import { limitsOf, type SlotLimits } from "./run-limits.ts";

export type EngineKind = "docker" | "podman";

export type Ulimit = { readonly Name: string; readonly Soft: number; readonly Hard: number };

/** The parts of its host that an agent lets configurations of experiments use; empty lists for none. */
export type HostAccess = {
  /** Folders that may be mounted, with all their content. */
  readonly paths: readonly string[];
  /** Files of devices, or folders of them. */
  readonly devices: readonly string[];
  /** The capabilities that may be added, by name; "*" means all. */
  readonly capabilities: readonly string[];
};

/** The settings of containers in an agent's configuration. */
export type ContainerSettings = SlotLimits & {
  /** The image of experiments that name none; empty means no image. */
  readonly image: string;
  /** "host", "bridge", "none" or the name of a network. */
  readonly network: string;
  readonly cpus: number | null;
  readonly ulimits: readonly Ulimit[];
  /** The uid:gid of the owner of the run's folder. */
  readonly user: string;
  readonly access: HostAccess;
};

export type Mount = {
  readonly Type: "bind";
  readonly Source: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions: { readonly Propagation: string };
};

type PortBinding = { readonly HostPort: string };

type EngineDevice = {
  readonly PathOnHost: string;
  readonly PathInContainer: string;
  readonly CgroupPermissions: string;
};

type DeviceRequest = {
  readonly Driver: string;
  readonly Count: number;
  readonly DeviceIDs: readonly string[];
  readonly Capabilities: readonly (readonly string[])[];
};

export type ContainerBody = {
  readonly Image: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly User: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, object>>;
  readonly HostConfig: {
    readonly PortBindings?: Readonly<Record<string, readonly PortBinding[]>>;
    readonly Init: true;
    readonly NetworkMode: string;
    readonly LogConfig: { readonly Type: "none" };
    readonly Mounts: readonly Mount[];
    readonly ShmSize: number;
    readonly Memory?: number;
    readonly MemorySwap?: number;
    readonly PidsLimit?: number;
    readonly NanoCpus?: number;
    readonly Ulimits: readonly Ulimit[];
    readonly CapAdd: readonly string[];
    readonly CapDrop: readonly string[];
    readonly Devices: readonly EngineDevice[];
    readonly DeviceRequests: readonly DeviceRequest[];
    readonly SecurityOpt: readonly string[];
  };
};

export type ContainerPlace = {
  readonly image: string;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute paths, the same on this host and in the container. */
  readonly runDir: string;
  readonly pipes: string;
  readonly work: string;
  readonly sdkPath: string | null;
  /** The folder with the programs of a task's holder; null for a run of a trial. */
  readonly holder: string | null;
  /** The agent's package folders; null for a run without a page. */
  readonly packages: string | null;
  /** The folder with a TensorBoard's files, which the run only reads; null for another run. */
  readonly board: string | null;
  /** The folders to mount for the run's checkpoints and TensorBoard files. */
  readonly storageFolders: readonly string[];
  readonly slots: readonly Plain<Slot>[];
  readonly labels: Readonly<Record<string, string>>;
};

/** The names of the pipes in their folder, and of the file `started`, which the container's shell makes. */
export const pipeNames = { stdout: "stdout", stderr: "stderr", started: "started" } as const;

/** The default shm size is Determined's; the engines' default of 64 MB is too small for the data loaders of PyTorch. */
const shmBytesOtherwise = 4 * 1024 ** 3;

/** The shell script that opens the pipes and then becomes the command. $0 is the folder of the pipes. */
const opening = ': >"$0/started"; exec </dev/null >"$0/stdout" 2>"$0/stderr"; ';
/** The check that GPUs exist: if an engine ignored the request for them, the run would silently train on the CPU. */
const gpuGuard =
  '[ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || { echo "the container has no GPU although the run has slots of one: is the NVIDIA Container Toolkit set up for this engine (docs/howto/use-containers.md)?" >&2; exit 126; }; ';

function kindOf(slots: readonly Plain<Slot>[]): "cpu" | "cuda" | "rocm" {
  const device = slots[0]?.device;
  return device === "cuda" || device === "rocm" ? device : "cpu";
}

export function containerBody(
  place: ContainerPlace,
  section: Plain<Container>,
  settings: ContainerSettings,
  engine: EngineKind,
): ContainerBody {
  const { slots, pipes } = place;
  const { cpus } = settings;
  const { memory, pids } = limitsOf(settings, slots.length);
  const guard = kindOf(slots) === "cuda" ? gpuGuard : "";
  const published = publishedPorts(section, settings).map((port) => [`${port}/tcp`, port] as const);
  const PortBindings = Object.fromEntries(
    published.map(([name, port]) => [name, [{ HostPort: String(port) }]]),
  );
  return {
    Image: place.image,
    Entrypoint: ["sh", "-c", `${opening}${guard}exec "$@"`, pipes],
    Cmd: place.argv,
    Env: Object.entries({ ...place.environment, ...toolkitVariables(slots, engine) }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    WorkingDir: place.work,
    User: settings.user,
    Labels: place.labels,
    ...(published.length === 0
      ? {}
      : { ExposedPorts: Object.fromEntries(published.map(([name]) => [name, {}])) }),
    HostConfig: {
      ...(published.length === 0 ? {} : { PortBindings }),
      Init: true,
      NetworkMode: settings.network,
      LogConfig: { Type: "none" },
      Mounts: mountsOf(place, section),
      ShmSize: section.shmBytes ?? shmBytesOtherwise,
      // Swap is off, so that a run beyond its memory limit ends instead of slowing down its neighbours.
      ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
      ...(pids === undefined ? {} : { PidsLimit: pids }),
      ...(cpus === null ? {} : { NanoCpus: Math.round(cpus * 1e9) }),
      Ulimits: settings.ulimits,
      CapAdd: section.addCapabilities,
      CapDrop: section.dropCapabilities,
      Devices: [...devicesOf(slots), ...section.devices.map(mappedDevice)],
      DeviceRequests: requestsOf(slots, engine),
      // The run's folders have no SELinux label that a container may read, so labels are disabled.
      SecurityOpt: ["label=disable", "no-new-privileges"],
    },
  };
}

/**
 * Returns the ports that a container publishes, each under its own number on the host. A container in the host's
 * network publishes none: its ports are the host's already. A container without a network has none.
 */
export function publishedPorts(
  { proxyPorts }: Pick<Plain<Container>, "proxyPorts">,
  { network }: Pick<ContainerSettings, "network">,
): readonly number[] {
  return network === "host" || network === "none" ? [] : proxyPorts.map(({ port }) => port);
}

function mountsOf(place: ContainerPlace, section: Plain<Container>): readonly Mount[] {
  const { runDir, pipes, work, sdkPath, holder, board, packages, storageFolders } = place;
  const { storageMount } = section;
  const own = [runDir, pipes, work, ...storageFolders];
  return [
    ...own.map((path) => bind(path, path)),
    ...[sdkPath, holder, board, packages].flatMap((path) =>
      path === null ? [] : [bind(path, path, true)],
    ),
    ...(storageMount === undefined ? [] : [storageBind(storageMount)]),
    ...section.bindMounts.map(({ hostPath, containerPath, readOnly, propagation }) => {
      const target = containerPath.startsWith("/") ? containerPath : `${work}/${containerPath}`;
      return bind(hostPath, target, readOnly, propagation);
    }),
  ];
}

function storageBind({
  hostPath,
  containerPath,
  propagation,
}: NonNullable<Plain<Container>["storageMount"]>): Mount {
  return bind(hostPath, containerPath, false, propagation);
}

function bind(source: string, target: string, readOnly = false, propagation = "rprivate"): Mount {
  const BindOptions = { Propagation: propagation };
  return { Type: "bind", Source: source, Target: target, ReadOnly: readOnly, BindOptions };
}

/** The devices of ROCm slots, which are files. */
function devicesOf(slots: readonly Plain<Slot>[]): readonly EngineDevice[] {
  if (kindOf(slots) !== "rocm") return [];
  return ["/dev/kfd", "/dev/dri"].map((path) => device(path, path, "rwm"));
}

/** The run's GPUs by Podman's names, those of the Container Device Interface. */
export function cdiNames(slots: readonly Plain<Slot>[]): readonly string[] {
  return kindOf(slots) === "cuda" ? slots.map(({ uuid }) => `nvidia.com/gpu=${uuid}`) : [];
}

/** NVIDIA's runtime provides the GPUs that this variable names; without it, a CUDA image would get all of them. */
function toolkitVariables(
  slots: readonly Plain<Slot>[],
  engine: EngineKind,
): Readonly<Record<string, string>> {
  const asked = requestsOf(slots, engine).flatMap(({ DeviceIDs }) => DeviceIDs);
  return { NVIDIA_VISIBLE_DEVICES: asked.length === 0 ? "void" : asked.join(",") };
}

function requestsOf(slots: readonly Plain<Slot>[], engine: EngineKind): readonly DeviceRequest[] {
  if (kindOf(slots) !== "cuda" || engine !== "docker") return [];
  const DeviceIDs = slots.map(({ uuid }) => uuid);
  return [{ Driver: "nvidia", Count: 0, DeviceIDs, Capabilities: [["gpu"]] }];
}

function mappedDevice({
  hostPath,
  containerPath,
  mode,
}: Plain<Container>["devices"][number]): EngineDevice {
  return device(hostPath, containerPath, mode);
}

function device(host: string, inContainer: string, permissions: string): EngineDevice {
  return { PathOnHost: host, PathInContainer: inContainer, CgroupPermissions: permissions };
}

/** The labels by which an agent finds its containers again. */
export const labelNames = {
  /** The id of the agent's state folder. */
  folder: "trainyard.agent-folder",
  allocation: "trainyard.allocation",
  /** The id of the event that requested the allocation. */
  request: "trainyard.request",
  experiment: "trainyard.experiment",
  trial: "trainyard.trial",
  task: "trainyard.task",
} as const;

export function labelsOf(
  folder: string,
  { allocation, requestId, experiment, trial, task }: Plain<Launch>,
): Readonly<Record<string, string>> {
  const { folder: of, allocation: is, request, experiment: by, trial: as } = labelNames;
  const common = { [of]: folder, [is]: allocation, [request]: requestId };
  if (task !== undefined) return { ...common, [labelNames.task]: task.id };
  return { ...common, [by]: experiment, [as]: trial };
}

/** Returns the key of the run of a container. */
export function keyOfLabels(labels: Readonly<Record<string, string>>): string {
  const { [labelNames.allocation]: allocation = "", [labelNames.request]: requestId = "" } = labels;
  return runKeyOf({ allocation, requestId });
}
