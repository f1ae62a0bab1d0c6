/**
 * The create request for Podman's own API (POST /libpod/containers/create, version 4), with the same container as
 * container-body.ts. It is used if the run has GPUs: Podman's Docker API accepts no CDI names (4.3 looks for a file of
 * that name) and ignores requests for devices.
 */
import type { ContainerBody } from "./container-body.ts";

export type LibpodBody = Readonly<Record<string, unknown>>;

/** The kernel's period of a CPU quota, in microseconds. */
const periodUs = 100_000;

/** `cdi` is a list of names such as nvidia.com/gpu=GPU-…; `name` is the container's name. */
export function libpodBody(
  name: string,
  { HostConfig: host, ...body }: ContainerBody,
  cdi: readonly string[],
): LibpodBody {
  const { Memory, PidsLimit, NanoCpus, PortBindings = {} } = host;
  const memory = Memory === undefined ? {} : { memory: { limit: Memory, swap: Memory } };
  const pids = PidsLimit === undefined ? {} : { pids: { limit: PidsLimit } };
  const quota = Math.round(((NanoCpus ?? 0) * periodUs) / 1e9);
  const cpu = NanoCpus === undefined ? {} : { cpu: { period: periodUs, quota } };
  return {
    name,
    image: body.Image,
    entrypoint: body.Entrypoint,
    command: body.Cmd,
    env: Object.fromEntries(body.Env.map(pairOf)),
    work_dir: body.WorkingDir,
    user: body.User,
    labels: body.Labels,
    init: host.Init,
    netns: networkOf(host.NetworkMode),
    ...(isNamed(host.NetworkMode) ? { networks: { [host.NetworkMode]: {} } } : {}),
    portmappings: Object.values(PortBindings)
      .flat()
      .map(({ HostPort }) => Number(HostPort))
      .map((port) => ({ container_port: port, host_port: port, protocol: "tcp" })),
    log_configuration: { driver: host.LogConfig.Type },
    mounts: host.Mounts.map(({ Source, Target, ReadOnly, BindOptions }) => ({
      type: "bind",
      source: Source,
      destination: Target,
      options: ["rbind", ReadOnly ? "ro" : "rw", BindOptions.Propagation],
    })),
    shm_size: host.ShmSize,
    resource_limits: { ...memory, ...pids, ...cpu },
    r_limits: host.Ulimits.map(({ Name, Soft, Hard }) => ({
      type: `RLIMIT_${Name.toUpperCase()}`,
      soft: Soft,
      hard: Hard,
    })),
    cap_add: host.CapAdd,
    cap_drop: host.CapDrop,
    devices: [...host.Devices.map(deviceOf), ...cdi].map((path) => ({ path })),
    no_new_privileges: host.SecurityOpt.includes("no-new-privileges"),
    selinux_opts: ["disable"],
  };
}

/** Returns a device in the notation of `--device`, from which Podman reads the path. */
function deviceOf({
  PathOnHost,
  PathInContainer,
  CgroupPermissions,
}: ContainerBody["HostConfig"]["Devices"][number]): string {
  return `${PathOnHost}:${PathInContainer}:${CgroupPermissions}`;
}

function pairOf(variable: string): readonly [string, string] {
  const at = variable.indexOf("=");
  return [variable.slice(0, at), variable.slice(at + 1)];
}

const modes = ["host", "bridge", "none", "slirp4netns"];

function isNamed(network: string): boolean {
  return !modes.includes(network);
}

function networkOf(network: string): { readonly nsmode: string } {
  return { nsmode: isNamed(network) ? "bridge" : network };
}
