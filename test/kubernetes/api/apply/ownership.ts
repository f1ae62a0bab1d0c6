// Managers own fields of an object. An apply owns what it names, and takes what it no longer names away unless another
// manager owns it; it conflicts where it changes a field that another manager owns. Any other write takes over the
// fields that it changes. Invariant: no field of a set is absent from the object, apart from lists and maps that are
// empty. Source: docs, "Server-Side Apply" (conflicts, field management, transferring ownership, clearing
// managedFields); KEP-555.
import { ApiFault, type Cause } from "../fault.ts";
import type { KubeObject, ManagedFields } from "../object-store.ts";
import type { StructSchema } from "../schemas/schema.ts";
import {
  appliedLeaves,
  type FieldSet,
  fieldSetOf,
  fieldsV1Of,
  leavesOf,
  textOf,
  touches,
} from "./field-set.ts";
import { mergeApplied, without } from "./merge.ts";

export type Writer = {
  manager: string;
  apiVersion: string;
  /** "" for the object itself. */
  subresource: string;
};

type Manager = Omit<ManagedFields, "fieldsV1"> & { set: FieldSet };

/** Fields that identify an object or that the server writes have no owner. */
const UNOWNED = new Set([
  "f:apiVersion",
  "f:kind",
  ...[
    "name",
    "namespace",
    "generateName",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
  ].map((field) => `f:metadata\nf:${field}`),
]);

const isOwned = (path: string): boolean => {
  const [first, second] = path.split("\n");
  return path !== "f:metadata" && !UNOWNED.has(first ?? "") && !UNOWNED.has(`${first}\n${second}`);
};

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

const managersOf = (object: KubeObject | null): Manager[] =>
  (object?.metadata.managedFields ?? []).map(({ fieldsV1, ...entry }) => ({
    ...entry,
    set: fieldSetOf(fieldsV1),
  }));

const entriesOf = (managers: readonly Manager[]): ManagedFields[] =>
  managers
    .filter(({ set }) => set.size > 0)
    .map(({ set, ...entry }) => ({ ...entry, fieldsV1: fieldsV1Of(set) }));

const isSame = (a: Manager, writer: Writer, operation: "Apply" | "Update"): boolean =>
  a.manager === writer.manager &&
  a.operation === operation &&
  (a.subresource ?? "") === writer.subresource;

/** An object without its managers, for comparisons. */
const content = (object: KubeObject | null): unknown => {
  if (!object) return {};
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};

const ownedLeaves = (object: KubeObject | null, schema: StructSchema): Map<string, string> =>
  new Map([...leavesOf(content(object), schema)].filter(([path]) => isOwned(path)));

type Difference = { changed: Set<string>; removed: Set<string> };

const compare = (before: Map<string, string>, after: Map<string, string>): Difference => {
  const changed = new Set<string>();
  for (const [path, text] of after) if (before.get(path) !== text) changed.add(path);
  const removed = new Set<string>();
  for (const path of before.keys()) if (!after.has(path)) removed.add(path);
  return { changed, removed };
};

const minus = (set: FieldSet, other: FieldSet): Set<string> =>
  new Set([...set].filter((path) => !other.has(path)));

const withSet = (
  managers: readonly Manager[],
  writer: Writer,
  operation: "Apply" | "Update",
  set: FieldSet,
): Manager[] => {
  const old = managers.find((manager) => isSame(manager, writer, operation));
  const equal =
    old !== undefined && old.set.size === set.size && [...set].every((path) => old.set.has(path));
  const own: Manager = {
    manager: writer.manager,
    operation,
    apiVersion: writer.apiVersion,
    time: equal && old.time ? old.time : now(),
    fieldsType: "FieldsV1",
    set,
    ...(writer.subresource === "" ? {} : { subresource: writer.subresource }),
  };
  const others = managers.filter((manager) => manager !== old);
  return operation === "Apply" ? [own, ...others] : [...others, own];
};

/** The managers after a write that is no apply. The writer may set the entries itself; `[{}]` clears them. */
export const trackUpdate = (
  object: KubeObject,
  old: KubeObject | null,
  schema: StructSchema,
  writer: Writer,
): void => {
  const given = object.metadata.managedFields;
  const cleared = given?.length === 1 && Object.keys(given[0] ?? {}).length === 0;
  const base = cleared ? [] : managersOf(given && given.length > 0 ? object : old);
  const { changed, removed } = compare(ownedLeaves(old, schema), ownedLeaves(object, schema));
  const kept = base.map((manager) => {
    const lost = isSame(manager, writer, "Update") ? removed : new Set([...removed, ...changed]);
    return { ...manager, set: minus(manager.set, lost) };
  });
  const own = kept.find((manager) => isSame(manager, writer, "Update"))?.set ?? new Set<string>();
  const next =
    changed.size === 0 && own.size === 0
      ? kept
      : withSet(kept, writer, "Update", new Set([...own, ...changed]));
  setManagers(object, next);
};

const setManagers = (object: KubeObject, managers: readonly Manager[]): void => {
  const entries = entriesOf(managers);
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
};

/** The stored object with an applied configuration; throws a 409 that names each field and manager unless forced. */
export const applyConfiguration = (
  configuration: KubeObject,
  stored: KubeObject | null,
  schema: StructSchema,
  writer: Writer,
  force: boolean,
): KubeObject => {
  if (configuration.metadata?.managedFields !== undefined) {
    throw new ApiFault(400, "BadRequest", "metadata.managedFields must be nil");
  }
  const { namespace, name } = configuration.metadata;
  const what = `${namespace ? `${namespace}/` : ""}${name}; ${configuration.apiVersion}, Kind=${configuration.kind}`;
  const applied = new Set([...appliedLeaves(configuration, schema, what).keys()].filter(isOwned));
  let managers = managersOf(stored);
  if (stored && managers.length === 0) {
    // Fields that were written before anybody applied belong to one manager, so that they are not taken away silently.
    const first = { manager: "before-first-apply", apiVersion: writer.apiVersion, subresource: "" };
    managers = withSet([], first, "Update", new Set(ownedLeaves(stored, schema).keys()));
  }
  const before = stored ? content(stored) : undefined;
  const merged = structuredClone(mergeApplied(before, configuration, schema)) as KubeObject;
  const { changed } = compare(ownedLeaves(stored, schema), ownedLeaves(merged, schema));
  const others = managers.filter((manager) => !isSame(manager, writer, "Apply"));
  if (!force) refuseConflicts(others, changed, lastApplied(stored, schema, writer));
  const left = others.map((manager) => ({ ...manager, set: minus(manager.set, changed) }));
  const own = managers.find((manager) => isSame(manager, writer, "Apply"));
  const last: FieldSet = own?.set ?? new Set();
  const owned = new Set([...applied, ...left.flatMap(({ set }) => [...set])]);
  const dropped = [...last].filter((path) => !touches(owned, path));
  const object = without(merged, schema, dropped) as KubeObject;
  object.metadata ??= { name };
  const present = ownedLeaves(object, schema);
  const surviving = left.map((manager) => ({
    ...manager,
    set: new Set([...manager.set].filter((path) => present.has(path) || isPrefix(path, present))),
  }));
  setManagers(object, withSet(own ? [own, ...surviving] : surviving, writer, "Apply", applied));
  return object;
};

const isPrefix = (path: string, leaves: ReadonlyMap<string, string>): boolean => {
  for (const leaf of leaves.keys()) if (leaf.startsWith(`${path}\n`)) return true;
  return false;
};

/**
 * The first server-side apply of kubectl takes over what kubectl applied on its side. Source: docs, "Server-Side Apply"
 * (upgrading from client-side apply to server-side apply).
 */
const lastApplied = (stored: KubeObject | null, schema: StructSchema, writer: Writer): FieldSet => {
  const text = stored?.metadata.annotations?.["kubectl.kubernetes.io/last-applied-configuration"];
  if (text === undefined || writer.manager !== "kubectl") return new Set();
  return new Set(leavesOf(JSON.parse(text), schema).keys());
};

const refuseConflicts = (
  others: readonly Manager[],
  changed: FieldSet,
  allowed: FieldSet,
): void => {
  const causes: Cause[] = [];
  const lines: string[] = [];
  for (const manager of others) {
    const fields = [...manager.set].filter((path) => changed.has(path)).sort();
    if (fields.length === 0) continue;
    lines.push(`conflicts with ${describe(manager)}:`);
    for (const path of fields) {
      const message = `conflict with ${describe(manager)}`;
      causes.push({ reason: "FieldManagerConflict", message, field: textOf(path) });
      lines.push(`- ${textOf(path)}`);
    }
  }
  const [only] = causes;
  const taken = others.flatMap(({ set }) => [...set].filter((path) => changed.has(path)));
  if (!only || taken.every((path) => allowed.has(path))) return;
  const text = causes.length === 1 ? `1 conflict: ${only.message}: ${only.field}` : "";
  const texts = text || `${causes.length} conflicts: ${lines.join("\n")}`;
  throw new ApiFault(409, "Conflict", `Apply failed with ${texts}`, { causes });
};

/** `"kubectl" with subresource "scale" using apps/v1`, the version only of an Update. */
const describe = ({ manager, subresource, operation, apiVersion }: Manager): string =>
  [
    JSON.stringify(manager),
    ...(subresource ? [`with subresource ${JSON.stringify(subresource)}`] : []),
    ...(operation === "Update" ? [`using ${apiVersion}`] : []),
  ].join(" ");
