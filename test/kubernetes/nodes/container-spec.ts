/**
 * A container's request to Podman, from its part of the pod. Source: docs, "Configure a Security Context for a Pod or
 * Container", "Define a Command and Arguments for a Container", "Resource Management for Pods and Containers".
 */
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { join, normalize } from "node:path";
import type { Pod } from "../controllers/kinds.ts";
import type { Container, VolumeMount } from "../controllers/pod-kinds.ts";
import { ConfigError, expanded } from "./environment.ts";
import { quantity } from "../api/validation/quantity.ts";
import type { ContainerSpec, ImageFacts } from "./podman-api.ts";

export type Places = {
  /** A name that no other container of the Podman has. */
  readonly name: string;
  readonly network: string;
  readonly hostname: string;
  readonly hosts: string;
  readonly resolver: string;
  /** The file of the container's last words. */
  readonly termination: string;
  readonly log: string;
  readonly volumes: ReadonlyMap<string, string>;
};

type Mount = {
  readonly type: "bind";
  readonly source: string;
  readonly destination: string;
  readonly options: readonly string[];
};

const periodUs = 100_000;

export function containerSpec(
  container: Container,
  pod: Pod,
  image: ImageFacts,
  variables: Readonly<Record<string, string>>,
  places: Places,
): ContainerSpec {
  const { command, args, workingDir, securityContext: own = {}, resources = {} } = container;
  const {
    runAsUser,
    runAsGroup,
    fsGroup,
    supplementalGroups = [],
    seccompProfile,
  } = pod.spec.securityContext ?? {};
  const user = own.runAsUser ?? runAsUser;
  const group = own.runAsGroup ?? runAsGroup;
  const seccomp = own.seccompProfile ?? seccompProfile;
  checkUser(container, pod, image, user);
  const argv = (texts: readonly string[]): string[] =>
    texts.map((text) => expanded(text, variables));
  return {
    name: places.name,
    image: container.image,
    ...(command === undefined || command.length === 0 ? {} : { entrypoint: argv(command) }),
    ...(args === undefined || args.length === 0 ? {} : { command: argv(args) }),
    ...(workingDir === undefined ? {} : { work_dir: workingDir, create_working_dir: true }),
    env: variables,
    user: userText(user, group, image),
    groups: [...new Set([...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])])].map(
      String,
    ),
    hostname: places.hostname,
    systemd: "false",
    sdnotifyMode: "ignore",
    image_volume_mode: "anonymous",
    netns: { nsmode: "path", value: places.network },
    utsns: { nsmode: "private" },
    mounts: mountsOf(container, variables, places, own.readOnlyRootFilesystem ?? false),
    log_configuration: { driver: "k8s-file", path: places.log },
    privileged: own.privileged ?? false,
    cap_add: capabilities(own.capabilities?.add),
    cap_drop: capabilities(own.capabilities?.drop),
    no_new_privileges: own.allowPrivilegeEscalation === false,
    read_only_filesystem: own.readOnlyRootFilesystem ?? false,
    // Without a profile a container has no filter of system calls. Source: docs, "Seccomp and Kubernetes".
    ...(seccomp?.type === "RuntimeDefault" ? {} : { seccomp_profile_path: "unconfined" }),
    resource_limits: limitsOf(resources.limits ?? {}, resources.requests ?? {}),
  };
}

/**
 * Podman looks a user's group up in the image, and takes 0 if it has no such user, as the runtimes of Kubernetes do.
 */
function userText(user: number | undefined, group: number | undefined, image: ImageFacts): string {
  if (user === undefined && group === undefined) return image.user;
  const uid = user === undefined ? image.user.split(":")[0] || "0" : String(user);
  return group === undefined ? uid : `${uid}:${group}`;
}

/** Source: docs, "Configure a Security Context for a Pod or Container" (runAsNonRoot). */
function checkUser(
  container: Container,
  pod: Pod,
  image: ImageFacts,
  user: number | undefined,
): void {
  const nonRoot =
    container.securityContext?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot ?? false;
  if (!nonRoot) return;
  const { name, namespace, uid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  if (user === 0) throw new ConfigError(`container's runAsUser breaks non-root policy ${where}`);
  if (user !== undefined) return;
  const [of = ""] = image.user.split(":");
  if (of === "" || of === "0") {
    throw new ConfigError(`container has runAsNonRoot and image will run as root ${where}`);
  }
  if (/^\d+$/.test(of)) return;
  const why = `image has non-numeric user (${of}), cannot verify user is non-root`;
  throw new ConfigError(`container has runAsNonRoot and ${why} ${where}`);
}

function mountsOf(
  container: Container,
  variables: Readonly<Record<string, string>>,
  places: Places,
  readOnlyRoot: boolean,
): readonly Mount[] {
  const { volumeMounts = [], terminationMessagePath: path } = container;
  const mounts = volumeMounts.map((mount) => {
    const folder = places.volumes.get(mount.name);
    if (folder === undefined) throw new ConfigError(`volume ${mount.name} not found`);
    return bind(partOf(folder, mount, variables), mount.mountPath, mount.readOnly ?? false);
  });
  const files = [
    bind(places.hosts, "/etc/hosts", readOnlyRoot),
    bind(places.resolver, "/etc/resolv.conf", readOnlyRoot),
    bind(places.termination, path ?? "/dev/termination-log", false),
  ];
  const own = new Set(mounts.map(({ destination }) => normalize(destination)));
  return [...mounts, ...files.filter(({ destination }) => !own.has(destination))];
}

function bind(source: string, destination: string, readOnly: boolean): Mount {
  return {
    type: "bind",
    source,
    destination,
    options: ["rbind", readOnly ? "ro" : "rw", "rprivate"],
  };
}

/** A missing folder of a `subPath` is made; a link in it may not lead out of the volume. */
function partOf(
  folder: string,
  { subPath: plain = "", subPathExpr }: VolumeMount,
  variables: Readonly<Record<string, string>>,
): string {
  const subPath = subPathExpr === undefined ? plain : expanded(subPathExpr, variables);
  if (subPath === "") return folder;
  if (/\$\(/.test(subPath)) throw new ConfigError(`missing value for ${JSON.stringify(subPath)}`);
  const path = join(folder, subPath);
  if (!existsSync(path)) mkdirSync(path, { recursive: true });
  const real = realpathSync(path);
  if (!real.startsWith(`${realpathSync(folder)}/`)) {
    throw new ConfigError(`subPath ${JSON.stringify(subPath)} is not within volume path`);
  }
  return real;
}

/** Podman's names have a prefix, except for all of them. */
function capabilities(names: readonly string[] = []): readonly string[] {
  return names.map((name) => (name === "ALL" ? "all" : `CAP_${name.replace(/^CAP_/, "")}`));
}

function limitsOf(limits: Readonly<Record<string, string>>, requests: typeof limits): object {
  const memory = limits["memory"] === undefined ? null : Math.floor(quantity(limits["memory"]));
  const cpus = limits["cpu"] === undefined ? null : quantity(limits["cpu"]);
  const requested = requests["cpu"] ?? limits["cpu"];
  const shares = Math.max(2, Math.round(quantity(requested ?? 0) * 1_024));
  const quota =
    cpus === null ? {} : { quota: Math.max(1_000, Math.round(cpus * periodUs)), period: periodUs };
  return {
    ...(memory === null ? {} : { memory: { limit: memory, swap: memory } }),
    cpu: { shares, ...quota },
  };
}
