/**
 * The volumes of a pod as folders of the host. Source: docs, "Volumes", "Projected Volumes", "Configure a Security
 * Context for a Pod or Container" (fsGroup), "Configure Service Accounts for Pods", "Persistent Volumes".
 */
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Claim, Pod } from "../controllers/kinds.ts";
import type { KeySource, Labels, Projection, Volume } from "../controllers/pod-kinds.ts";
import { type Objects, uidOf } from "../controllers/kinds.ts";
import { fieldOf, type PodFacts } from "./environment.ts";
import { type VolumeFile, writeFiles } from "./volume-files.ts";

/** A volume that cannot be mounted yet: its pod waits in ContainerCreating, and an event says why. */
export class MountProblem extends Error {}

export type VolumeWorld = {
  readonly objects: Objects;
  readonly pod: Pod;
  /** The pod's folder. */
  readonly folder: string;
  /** The folder of all claims, which outlive pods. */
  readonly claims: string;
  readonly facts: PodFacts;
  readonly tokenFor: (pod: Pod) => string;
};

export const claimFolder = (claims: string, claim: Claim): string => join(claims, uidOf(claim));

/** Makes all volumes, or brings those with the content of objects up to date; returns their folders by name. */
export function makeVolumes(world: VolumeWorld): ReadonlyMap<string, string> {
  const { volumes = [] } = world.pod.spec;
  return new Map(volumes.map((volume) => [volume.name, made(volume, world)]));
}

function made(volume: Volume, world: VolumeWorld): string {
  const { name, emptyDir, persistentVolumeClaim: claim } = volume;
  const folder = join(world.folder, "volumes", name);
  const { fsGroup = null } = world.pod.spec.securityContext ?? {};
  if (emptyDir !== undefined) return owned(newFolder(folder), fsGroup);
  if (claim !== undefined) return owned(folderOfClaim(claim.claimName, world), fsGroup);
  writeFiles(newFolder(folder, 0o755), filesOf(volume, world), fsGroup);
  return folder;
}

function newFolder(path: string, mode = 0o777): string {
  if (existsSync(path)) return path;
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

/** With an fsGroup the folder and all that is in it belong to the group, which may write there. */
function owned(path: string, group: number | null): string {
  if (group === null) return path;
  const { gid, mode } = lstatSync(path);
  if (gid === group && (mode & 0o2000) !== 0) return path;
  grant(path, group);
  return path;
}

function grant(path: string, group: number): void {
  const { uid, mode } = lstatSync(path);
  const isFolder = lstatSync(path).isDirectory();
  chownSync(path, uid, group);
  chmodSync(path, (mode & 0o7777) | (isFolder ? 0o2770 : 0o660));
  if (isFolder) for (const name of readdirSync(path)) grant(join(path, name), group);
}

function folderOfClaim(name: string, { objects, pod, claims }: VolumeWorld): string {
  const claim = objects.get("persistentvolumeclaims", pod.metadata.namespace ?? "", name);
  if (claim === null) throw new MountProblem(`persistentvolumeclaim "${name}" not found`);
  if (claim.status?.phase !== "Bound")
    throw new MountProblem(`persistentvolumeclaim "${name}" is not bound`);
  // A new file system belongs to root, whose folder others may read: a pod of another user needs an fsGroup.
  return newFolder(claimFolder(claims, claim), 0o755);
}

function filesOf(volume: Volume, world: VolumeWorld): readonly VolumeFile[] {
  const { secret, configMap, projected } = volume;
  const named = (source: Projection, defaultMode = 0o644): readonly VolumeFile[] =>
    projectedFiles(source, defaultMode, world, volume.name);
  if (secret !== undefined) {
    const { secretName, defaultMode, ...source } = secret;
    return named({ secret: { ...source, ...(secretName && { name: secretName }) } }, defaultMode);
  }
  if (configMap !== undefined) return named({ configMap }, configMap.defaultMode);
  if (projected !== undefined) {
    return (projected.sources ?? []).flatMap((source) => named(source, projected.defaultMode));
  }
  throw new MountProblem(`volume ${volume.name}: this node has no volumes of its kind`);
}

function projectedFiles(
  { secret, configMap, serviceAccountToken: token, downwardAPI }: Projection,
  mode: number,
  world: VolumeWorld,
  volume: string,
): readonly VolumeFile[] {
  const { objects, pod } = world;
  const namespace = pod.metadata.namespace ?? "";
  const failed = (why: string): MountProblem =>
    new MountProblem(`MountVolume.SetUp failed for volume "${volume}" : ${why}`);
  if (secret !== undefined) {
    const found = objects.get("secrets", namespace, secret.name ?? "");
    const data = found && bytesOf(found.data ?? {}, "base64");
    return keyed(data, secret, `secret "${secret.name}" not found`, mode, failed);
  }
  if (configMap !== undefined) {
    const found = objects.get("configmaps", namespace, configMap.name ?? "");
    const data = found && {
      ...bytesOf(found.data ?? {}, "utf8"),
      ...bytesOf(found.binaryData ?? {}, "base64"),
    };
    return keyed(data, configMap, `configmap "${configMap.name}" not found`, mode, failed);
  }
  if (token !== undefined) {
    return [{ path: token.path, bytes: Buffer.from(world.tokenFor(pod)), ...tokenMode(pod, mode) }];
  }
  return (downwardAPI?.items ?? []).map(({ path, fieldRef, mode: own }) => {
    if (fieldRef === undefined) throw failed("this node has no resourceFieldRef in volumes");
    const bytes = Buffer.from(fieldOf(fieldRef.fieldPath, pod, world.facts));
    return { path, bytes, mode: own ?? mode };
  });
}

/** Only the pod's user reads its token, if all containers have one user. Source: KEP-2451. */
function tokenMode({ spec }: Pod, mode: number): { mode: number; uid?: number } {
  const { fsGroup, runAsUser } = spec.securityContext ?? {};
  const users = new Set(
    spec.containers.map(({ securityContext }) => securityContext?.runAsUser ?? runAsUser),
  );
  const [user] = users;
  if (fsGroup !== undefined) return { mode: 0o600 };
  return users.size === 1 && user !== undefined ? { mode: 0o600, uid: user } : { mode };
}

function bytesOf(data: Labels, encoding: "base64" | "utf8"): Record<string, Buffer> {
  const entries = Object.entries(data);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, encoding)]));
}

function keyed(
  data: Readonly<Record<string, Buffer>> | null,
  { items, optional = false }: KeySource,
  absent: string,
  mode: number,
  failed: (why: string) => MountProblem,
): readonly VolumeFile[] {
  if (data === null && !optional) throw failed(absent);
  const known = data ?? {};
  if (items === undefined) {
    return Object.entries(known).map(([path, bytes]) => ({ path, bytes, mode }));
  }
  return items.flatMap(({ key, path, mode: own }) => {
    const bytes = known[key];
    if (bytes === undefined && !optional)
      throw failed(`references non-existent secret key: ${key}`);
    return bytes === undefined ? [] : [{ path, bytes, mode: own ?? mode }];
  });
}
