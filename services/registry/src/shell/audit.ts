/**
 * Compares the content of storages with the log, in both directions.
 *
 * A storage is listed before the log is read, so a checkpoint that was declared in between is known. On request the
 * audit deletes unknown folders: their names have the form of checkpoint ids, the log does not have them (or says that
 * they were deleted), and their files have not changed for a given time.
 */
import { storageRoot, storageStreamId, withoutEndpoint } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { AuditStorage, StorageAudit } from "@trainyard/contracts/commands";
import { isFault, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, foldOf } from "@trainyard/runtime";
import { newEventId } from "@trainyard/event-log";
import { registryLimits } from "../limits.ts";
import { type AuditedPlace, auditedPlace } from "./audited-places.ts";
import type { CommandDeps } from "./commands.ts";
import { groupsOf, sectionOf } from "./storages.ts";
import { checkpoints, storages } from "../streams.ts";

type Finding = Plain<StorageAudit>["findings"][number];
type Root = Plain<StorageAudit>["roots"][number];

export async function auditStorage(
  deps: CommandDeps,
  request: Plain<AuditStorage>,
  context: CommandContext,
): Promise<Plain<StorageAudit> | Rejection> {
  const { root: only, deleteOlderThanMs: ageMs } = request;
  const { auditAgeLeastMs, findingsToldMax } = registryLimits;
  if (ageMs !== undefined && !(ageMs >= auditAgeLeastMs)) {
    const detail =
      "unknown files younger than nine days may belong to a run that has not declared them yet";
    return reject("invalid_request", detail);
  }
  const held = ageMs === undefined ? null : await deps.hold.reason();
  if (held !== null) return reject("deletions_held", held);
  const groups = await groupsOf(deps);
  const wanted = [...new Set(groups.map(({ root }) => root))].filter(
    (root) => only === "" || root === only,
  );
  if (wanted.length === 0) {
    return reject("storage_not_found", `no checkpoint was declared under ${only}`);
  }
  const roots: Root[] = [];
  const findings: Finding[] = [];
  for (const root of wanted) {
    const storageId = groups.find((group) => group.root === root && group.countsAs)?.countsAs ?? "";
    const audited = await auditRoot(deps, root, storageId, request, context);
    roots.push(audited.root);
    findings.push(...audited.findings);
  }
  return { roots, findings: findings.slice(0, findingsToldMax), count: findings.length };
}

/** Reports a storage that is unavailable or denies access; it does not delay the others. */
async function auditRoot(
  deps: CommandDeps,
  root: string,
  storageId: string,
  request: Plain<AuditStorage>,
  context: CommandContext,
): Promise<{ readonly root: Root; readonly findings: readonly Finding[] }> {
  const told = (checkpoints: number, problem: string): Root => ({
    ...{ root, storageId, checkpoints, problem },
  });
  const { deleteOlderThanMs: ageMs } = request;
  let known = 0;
  let findings: readonly Finding[] = [];
  try {
    const place = await auditedPlace(deps, await sectionOf(deps, root), storageId);
    const problem = await place.problem();
    if (problem !== null) return { root: told(0, problem), findings };
    const compared = await compare(deps, root, place);
    known = compared.checkpoints;
    findings = compared.found;
    const deletable = ageMs === undefined ? [] : olderThan(deps, findings, ageMs);
    const deleted = await deleteAll(deps, root, place, deletable, request, context);
    findings = findings.map((one) =>
      deleted.names.has(one.name) ? { ...one, deleted: true } : one,
    );
    const { problem: stopped } = deleted;
    const why = stopped === "" ? "" : `it was compared, but the deletion stopped: ${stopped}`;
    return { root: told(known, why), findings };
  } catch (error) {
    if (!isFault(error) || error.code === "database_away") throw error;
    return { root: told(known, error.message), findings };
  }
}

/**
 * Compares one root with the log. Checkpoints that were declared under another root are no findings: both roots may
 * name the same place, by a link, another spelling or another address of one server. A folder that contains another
 * root is no finding either.
 */
async function compare({ executor, placed }: CommandDeps, root: string, place: AuditedPlace) {
  const roots = namesOfRoots(root, await placed.roots());
  const names = await place.names();
  const known = await placed.statesAt(root);
  const found: Finding[] = [];
  for (const name of names.filter((one) => !known.has(one) && !roots.has(one))) {
    const { declared } = (await executor.cache.load(foldOf(checkpoints), name)).state;
    if (declared !== null && storageRoot(declared.storage ?? {}) !== root) continue;
    const kind = declared === null ? "unknown" : "left_over";
    found.push({ root, name, kind, deleted: false, changedAtMs: await place.changedAtMs(name) });
  }
  for (const name of await missingOf(known, names, place)) {
    found.push({ root, name, kind: "missing", deleted: false });
  }
  return { checkpoints: known.size, found };
}

/** The names directly below a root that lead to other roots. */
export function namesOfRoots(root: string, roots: readonly string[]): ReadonlySet<string> {
  const below = `${withoutEndpoint(root).replace(/\/$/, "")}/`;
  const inside = roots.map(withoutEndpoint).filter((one) => one !== below && one.startsWith(below));
  return new Set(inside.map((one) => one.slice(below.length).split("/")[0] ?? ""));
}

/**
 * Checkpoints that are complete in the log and in neither listing. A checkpoint that completed after the first listing
 * is in the second.
 */
export async function missingOf(
  known: ReadonlyMap<string, string>,
  listed: readonly string[],
  place: Pick<AuditedPlace, "names">,
): Promise<readonly string[]> {
  const before = new Set(listed);
  const missing = [...known].flatMap(([name, state]) =>
    state === "complete" && !before.has(name) ? [name] : [],
  );
  if (missing.length === 0) return missing;
  const now = new Set(await place.names());
  return missing.filter((name) => !now.has(name));
}

function olderThan({ clock }: CommandDeps, found: readonly Finding[], ageMs: number) {
  const before = clock.nowMs() - ageMs;
  return found
    .filter(({ changedAtMs: at = Number.POSITIVE_INFINITY }) => at <= before)
    .map(({ name }) => name);
}

type Deleted = { readonly names: ReadonlySet<string>; readonly problem: string };

/**
 * The event comes before the deletion, so that every deletion is explained. After a crash the next audit finds the
 * remaining files again.
 */
async function deleteAll(
  { executor, claims }: CommandDeps,
  root: string,
  place: AuditedPlace,
  names: readonly string[],
  { deleteOlderThanMs: olderThanMs = 0, reason }: Plain<AuditStorage>,
  { identity }: CommandContext,
): Promise<Deleted> {
  const { authid: by } = identity.meta;
  const page = registryLimits.namesPerEvent;
  const deleted = new Set<string>();
  for (let at = 0; at < names.length; at += page) {
    const some = names.slice(at, at + page);
    const held = await claims.problem(place.marked);
    if (held !== null) return { names: deleted, problem: held };
    const commit = { ...identity, commitId: at === 0 ? identity.commitId : newEventId() };
    const command = { kind: "delete_unknown", root, names: some, olderThanMs, by, reason } as const;
    const result = await executor.execute(commit, async (work) => {
      await work.decide(storages, storageStreamId(root), command);
    });
    if (isRejection(result)) return { names: deleted, problem: result.detail };
    for (const name of some) {
      try {
        const problem = await place.problem();
        if (problem !== null) return { names: deleted, problem };
        await claims.secure(place.marked, place.storageId, result.position);
        await place.remove(name);
      } catch (error) {
        if (!isFault(error)) throw error;
        return { names: deleted, problem: error.message };
      }
      deleted.add(name);
    }
  }
  return { names: deleted, problem: "" };
}
