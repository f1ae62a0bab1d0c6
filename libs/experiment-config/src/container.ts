/**
 * Reads the part of a recorded configuration that describes a run's container. Reading never fails: malformed values
 * get their defaults.
 */
import { flagAt, isMapping, type JsonObject, mappingAt, textAt, textsAt, valueAt } from "./json.ts";

export type DeviceKind = "cpu" | "cuda" | "rocm";

export type BindMount = {
  readonly hostPath: string;
  /** The path in the container; a relative path is below the run's working folder. */
  readonly containerPath: string;
  readonly readOnly: boolean;
  readonly propagation: string;
};

export type DeviceMapping = {
  readonly hostPath: string;
  readonly containerPath: string;
  /** Letters of r (read), w (write) and m (mknod). */
  readonly mode: string;
};

export type ProxyPort = {
  readonly port: number;
  /** True if the port's protocol is not HTTP. */
  readonly isTcp: boolean;
};

export type ContainerSection = {
  /** The image for the kind of device; empty if the configuration names none. */
  readonly image: string;
  readonly forcePull: boolean;
  /** Absent if the configuration does not set it. */
  readonly shmBytes?: number;
  readonly devices: readonly DeviceMapping[];
  readonly bindMounts: readonly BindMount[];
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  /** The container's ports that are reachable at the agent's host. */
  readonly proxyPorts: readonly ProxyPort[];
  /**
   * The mount of a shared_fs storage whose host_path must also appear at another path in the container; otherwise
   * absent.
   */
  readonly storageMount?: StorageMount;
};

type StorageMount = {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly propagation: string;
};

const unit = 1024;
const powers: Readonly<Record<string, number>> = { "": 0, k: 1, m: 2, g: 3, t: 4, p: 5 };

/**
 * Parses a size such as "4G", "1.5 gb", "512MiB" or a number of bytes, with binary units as in Docker. Null for
 * anything else.
 */
export function bytesOf(size: unknown): number | null {
  if (typeof size === "number") return Number.isFinite(size) && size >= 0 ? Math.floor(size) : null;
  if (typeof size !== "string") return null;
  const found = /^((?:\d*\.)?\d+) ?([kmgtp]?)(?:i?b)?$/i.exec(size.trim());
  if (found === null) return null;
  const [, number = "", letter = ""] = found;
  return Math.floor(Number(number) * unit ** (powers[letter.toLowerCase()] ?? 0));
}

/** `device` is the kind of the run's slots. */
export function recordedContainer(struct: unknown, device: DeviceKind): ContainerSection {
  const recorded = isMapping(struct) ? struct : {};
  const environment = mappingAt(recorded, "environment");
  const resources = mappingAt(recorded, "resources");
  const shmBytes = bytesOf(valueAt(resources, "shm_size"));
  const storageMount = storageMountOf(mappingAt(recorded, "checkpoint_storage"));
  return {
    image: imagesOf(environment)[device],
    forcePull: flagAt(environment, "force_pull_image", false),
    ...(shmBytes === null ? {} : { shmBytes }),
    devices: mappingsAt(resources, "devices").flatMap(deviceOf),
    bindMounts: mappingsAt(recorded, "bind_mounts").flatMap(bindMountOf),
    addCapabilities: textsAt(environment, "add_capabilities"),
    dropCapabilities: textsAt(environment, "drop_capabilities"),
    proxyPorts: proxyPortsOf(recorded),
    ...(storageMount === null ? {} : { storageMount }),
  };
}

/** Returns environment.proxy_ports of a recorded configuration, each port once. */
export function proxyPortsOf(struct: unknown): readonly ProxyPort[] {
  const environment = mappingAt(isMapping(struct) ? struct : {}, "environment");
  const ports = mappingsAt(environment, "proxy_ports").flatMap((entry) => {
    const port = valueAt(entry, "proxy_port");
    const isPort = typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536;
    return isPort ? [{ port, isTcp: flagAt(entry, "proxy_tcp", false) }] : [];
  });
  return [...new Map(ports.map((one) => [one.port, one])).values()];
}

function imagesOf(environment: JsonObject): Readonly<Record<DeviceKind, string>> {
  const one = textAt(environment, "image");
  const byDevice = mappingAt(environment, "image");
  // `gpu` is the older name of `cuda`.
  const cuda = textAt(byDevice, "cuda", textAt(byDevice, "gpu", one));
  return { cpu: textAt(byDevice, "cpu", one), cuda, rocm: textAt(byDevice, "rocm", one) };
}

function mappingsAt(mapping: JsonObject, key: string): readonly JsonObject[] {
  const value = valueAt(mapping, key);
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

function bindMountOf(mount: JsonObject): readonly BindMount[] {
  const hostPath = textAt(mount, "host_path");
  const containerPath = textAt(mount, "container_path");
  if (hostPath === "" || containerPath === "") return [];
  const propagation = textAt(mount, "propagation") || "rprivate";
  return [{ hostPath, containerPath, readOnly: flagAt(mount, "read_only", false), propagation }];
}

function deviceOf(device: JsonObject): readonly DeviceMapping[] {
  const hostPath = textAt(device, "host_path");
  const containerPath = textAt(device, "container_path");
  if (hostPath === "" || containerPath === "") return [];
  return [{ hostPath, containerPath, mode: textAt(device, "mode") || "mrw" }];
}

function storageMountOf(storage: JsonObject): StorageMount | null {
  const hostPath = textAt(storage, "host_path");
  const containerPath = textAt(storage, "container_path");
  const isMapped = textAt(storage, "type") === "shared_fs" && containerPath !== "";
  return isMapped && hostPath !== "" && hostPath !== containerPath
    ? { hostPath, containerPath, propagation: textAt(storage, "propagation") || "rprivate" }
    : null;
}
