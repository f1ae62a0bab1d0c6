/**
 * Compares what lies in storages with what the log has there, both ways. A storage is listed before the log is read, so
 * that a checkpoint that was declared in between is known. Deletes what a person asks for: folders that are named as
 * checkpoints are, that the log does not have (or says it deleted), and whose files have not changed for a given time.
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { directoryDisk, problemOfStorage, storageStreamId } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { AuditStorage, StorageAudit } from "@trainyard/contracts/commands";
import { isCheckpointId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, foldOf } from "@trainyard/runtime";
import { newEventId } from "@trainyard/event-log";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { listStorages } from "./storages.ts";
import { checkpoints, storages } from "../streams.ts";

type Finding = Plain<StorageAudit>["findings"][number];

export async function auditStorage(
  deps: CommandDeps,
  request: Plain<AuditStorage>,
  context: CommandContext,
): Promise<Plain<StorageAudit> | Rejection> {
  const { root: only, deleteOlderThanMs: ageMs } = request;
  const { auditAgeLeastMs, findingsToldMax } = registryLimits;
  if (ageMs !== undefined && !(ageMs >= auditAgeLeastMs)) {
    const detail =
      "unknown files younger than a day may be of a run that has not declared them yet";
    return reject("invalid_request", detail);
  }
  const groups = (await listStorages(deps)).storages;
  const wanted = [...new Set(groups.map(({ root }) => root))].filter(
    (root) => only === "" || root === only,
  );
  if (wanted.length === 0) {
    return reject("storage_not_found", `no checkpoint was declared under ${only}`);
  }
  const roots: Plain<StorageAudit>["roots"][number][] = [];
  const findings: Finding[] = [];
  for (const root of wanted) {
    const storageId = groups.find((group) => group.root === root && group.countsAs)?.countsAs ?? "";
    const problem = problemOfStorage(root, storageId, await directoryDisk.seen(root));
    const compared = problem === null ? await compare(deps, root) : { checkpoints: 0, found: [] };
    roots.push({ root, storageId, checkpoints: compared.checkpoints, problem: problem ?? "" });
    const deletable = ageMs === undefined ? [] : await olderThan(deps, compared.found, ageMs);
    const deleted = new Set(await deleteAll(deps, root, storageId, deletable, request, context));
    findings.push(
      ...compared.found.map((one) => (deleted.has(one.name) ? { ...one, deleted: true } : one)),
    );
  }
  return { roots, findings: findings.slice(0, findingsToldMax), count: findings.length };
}

async function compare({ executor, placed }: CommandDeps, root: string) {
  const names: readonly string[] = (await readdir(root)).filter(isCheckpointId);
  const known = await placed.statesAt(root);
  const found: Finding[] = [];
  for (const name of names.filter((one) => !known.has(one))) {
    const { declared } = (await executor.cache.load(foldOf(checkpoints), name)).state;
    const kind = declared === null ? "unknown" : "left_over";
    found.push({
      root,
      name,
      kind,
      deleted: false,
      changedAtMs: await changedAtMs(join(root, name)),
    });
  }
  const there = new Set(names);
  for (const [name, state] of known) {
    if (state !== "complete" || there.has(name)) continue;
    found.push({ root, name, kind: "missing", deleted: false });
  }
  return { checkpoints: known.size, found };
}

async function olderThan({ clock }: CommandDeps, found: readonly Finding[], ageMs: number) {
  const before = clock.nowMs() - ageMs;
  return found
    .filter(({ changedAtMs: at = Number.POSITIVE_INFINITY }) => at <= before)
    .map(({ name }) => name);
}

/** The event comes first: what is gone is then always explained. A crash leaves what the next audit finds again. */
async function deleteAll(
  { executor }: CommandDeps,
  root: string,
  storageId: string,
  names: readonly string[],
  { deleteOlderThanMs: olderThanMs = 0, reason }: Plain<AuditStorage>,
  { identity }: CommandContext,
): Promise<readonly string[]> {
  const { authid: by } = identity.meta;
  const page = registryLimits.namesPerEvent;
  for (let at = 0; at < names.length; at += page) {
    const some = names.slice(at, at + page);
    const commit = { ...identity, commitId: at === 0 ? identity.commitId : newEventId() };
    const command = { kind: "delete_unknown", root, names: some, olderThanMs, by, reason } as const;
    const result = await executor.execute(commit, async (work) => {
      await work.decide(storages, storageStreamId(root), command);
    });
    if (isRejection(result)) return names.slice(0, at);
    for (const name of some) {
      const problem = problemOfStorage(root, storageId, await directoryDisk.seen(root));
      if (problem !== null) return names.slice(0, at);
      await directoryDisk.removeFolder(join(root, name));
    }
  }
  return names;
}

/** The last change of anything in a folder, or of a file. */
async function changedAtMs(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return Number.POSITIVE_INFINITY;
  let latest = stats.mtimeMs;
  if (!stats.isDirectory()) return latest;
  for (const name of await readdir(path).catch(() => [])) {
    latest = Math.max(latest, await changedAtMs(join(path, name)));
  }
  return latest;
}
