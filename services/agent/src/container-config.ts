/** The variables that choose how runs are launched: as processes, or as containers with these settings. */
import { existsSync } from "node:fs";
import { Fault } from "@trainyard/kernel";
import { bytesOf, durationSeconds } from "@trainyard/experiment-config/recorded";
import { z } from "zod";
import type { ContainerSettings, EngineKind, Ulimit } from "./core/container-body.ts";
import type { SlotLimits } from "./core/run-limits.ts";

/** A size of memory; empty for none. */
export const size = z
  .string()
  .refine((text) => text === "" || (bytesOf(text) ?? 0) > 0, {
    error: 'must be a memory size, such as "64G"',
  })
  .default("");

/** An hour is enough for an image of 20 GB over a link of 50 Mbit/s. */
const pullTimeout = "1h";

const duration = z.string().transform((text, context) => {
  const seconds = durationSeconds(/^\d+$/.test(text) ? Number(text) : text);
  if (seconds !== null && seconds > 0 && seconds <= secondsMax) return seconds * 1_000;
  context.addIssue('must be a time, such as "90s", "30m" or "2h", of at most a week');
  return z.NEVER;
});
/** A week; timers overflow at 24 days. */
const secondsMax = 7 * 86_400;

const list = z.string().default("").transform(listOf);
const folders = list.refine((paths) => paths.every((path) => path.startsWith("/")), {
  error: 'must be absolute paths, such as "/data,/srv/models"',
});

export const containerVariables = {
  /** auto: the engine at the configured socket, else process. */
  TRAINYARD_AGENT_RUNTIME: z.enum(["auto", "process", "docker", "podman"]).default("auto"),
  /** The path of the engine's socket; empty for the usual place. */
  TRAINYARD_AGENT_ENGINE_SOCKET: z.string().default(""),
  /** The file with the registries' credentials, as `docker login` and `podman login` write it. */
  TRAINYARD_AGENT_REGISTRY_AUTH_FILE: z.string().default(""),
  /** The longest pull of an image, all attempts together. */
  TRAINYARD_AGENT_PULL_TIMEOUT: duration.prefault(pullTimeout),
  /** The image of experiments without environment.image. */
  TRAINYARD_AGENT_IMAGE: z.string().default(""),
  TRAINYARD_AGENT_CONTAINER_NETWORK: z.string().min(1).default("host"),
  TRAINYARD_AGENT_CONTAINER_CPUS: z.coerce.number().positive().optional(),
  /** Entries of name=soft:hard, separated by commas. */
  TRAINYARD_AGENT_CONTAINER_ULIMITS: z
    .string()
    .regex(/^(\w+=\d+(:\d+)?(,\w+=\d+(:\d+)?)*)?$/, {
      error: 'must be limits such as "nofile=65536:65536,memlock=-1"',
    })
    .default(""),
  /** The uid:gid of containers; by default a user whose files the agent may read and remove. */
  TRAINYARD_AGENT_CONTAINER_USER: z
    .string()
    .regex(/^(\d+(:\d+)?)?$/, { error: "must be a number, or two as uid:gid" })
    .default(""),
  /** Folders of the host that configurations may mount, with all their content; / for all. */
  TRAINYARD_AGENT_CONTAINER_HOST_PATHS: folders,
  /** Devices of the host that configurations may name, or folders of devices; / for all except GPUs. */
  TRAINYARD_AGENT_CONTAINER_DEVICES: folders,
  /** Capabilities that configurations may add; * for all. */
  TRAINYARD_AGENT_CONTAINER_CAPABILITIES: list,
  /** The address at which containers reach the services, if it differs from that of this process. */
  TRAINYARD_AGENT_CONTAINER_API_URL: z.string().min(1).optional(),
  TRAINYARD_AGENT_CONTAINER_METRICS_URL: z.string().min(1).optional(),
};

export type ContainerConfig = Omit<ContainerSettings, "user" | keyof SlotLimits> & {
  readonly runtime: "auto" | "process" | EngineKind;
  /** The path of the engine's socket; empty if the usual places are tried. */
  readonly socket: string;
  readonly authFile: string;
  readonly pullTimeoutMs: number;
  readonly user: string;
  readonly apiUrl: string | null;
  readonly metricsUrl: string | null;
};

type Variables = z.infer<z.ZodObject<typeof containerVariables>>;

export function containerConfigOf(env: Variables): ContainerConfig {
  return {
    runtime: env.TRAINYARD_AGENT_RUNTIME,
    socket: env.TRAINYARD_AGENT_ENGINE_SOCKET.replace(/^unix:\/\//, ""),
    authFile: env.TRAINYARD_AGENT_REGISTRY_AUTH_FILE,
    pullTimeoutMs: env.TRAINYARD_AGENT_PULL_TIMEOUT,
    image: env.TRAINYARD_AGENT_IMAGE,
    network: env.TRAINYARD_AGENT_CONTAINER_NETWORK,
    cpus: env.TRAINYARD_AGENT_CONTAINER_CPUS ?? null,
    ulimits: ulimitsOf(env.TRAINYARD_AGENT_CONTAINER_ULIMITS),
    user: env.TRAINYARD_AGENT_CONTAINER_USER,
    access: {
      paths: env.TRAINYARD_AGENT_CONTAINER_HOST_PATHS,
      devices: env.TRAINYARD_AGENT_CONTAINER_DEVICES,
      capabilities: env.TRAINYARD_AGENT_CONTAINER_CAPABILITIES,
    },
    apiUrl: env.TRAINYARD_AGENT_CONTAINER_API_URL ?? null,
    metricsUrl: env.TRAINYARD_AGENT_CONTAINER_METRICS_URL ?? null,
  };
}

/** The elements of a list that is separated by commas. */
export function listOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function ulimitsOf(text: string): readonly Ulimit[] {
  return text.split(",").flatMap((entry) => {
    const found = /^(\w+)=(\d+)(?::(\d+))?$/.exec(entry);
    if (found === null) return [];
    const [, name = "", soft = "", hard = soft] = found;
    return [{ Name: name, Soft: Number(soft), Hard: Number(hard) }];
  });
}

/** The usual paths of each engine's socket, in the order in which they are tried. */
const usualSockets: Readonly<Record<EngineKind, (uid: number) => readonly string[]>> = {
  docker: () => ["/var/run/docker.sock"],
  podman: (uid) =>
    uid === 0 ? ["/run/podman/podman.sock"] : [`/run/user/${uid}/podman/podman.sock`],
};

/** Throws if the settings name no socket and the usual places have none. */
export function socketOf(engine: EngineKind, named: string, uid: number): string {
  if (named !== "") return named;
  const usual = usualSockets[engine](uid);
  const found = usual.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Fault(
    "no_engine",
    `TRAINYARD_AGENT_RUNTIME is ${engine}, and there is no ${usual.join(" or ")}: start the engine's service, or set TRAINYARD_AGENT_ENGINE_SOCKET`,
    { retry: "never" },
  );
}

/**
 * The user of containers. In a rootless Podman, the container's root is the agent's user. In Docker it is the host's
 * root, whose files an agent of another user could neither read nor remove.
 */
export function userOf(
  { user }: ContainerConfig,
  engine: EngineKind,
  uid: number,
  gid: number,
): string {
  if (user !== "") return user;
  return engine === "docker" && uid !== 0 ? `${uid}:${gid}` : "0:0";
}
