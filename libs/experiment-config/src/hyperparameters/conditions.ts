/**
 * Conditional hyperparameters. `when` names other hyperparameters with the values for which this one exists; the `when`
 * of a `nested` applies to everything inside it. Names are searched beside the hyperparameter, then in each enclosing
 * nest; `/a/b` is an absolute path. In the normalised space each hyperparameter has its complete condition, with
 * absolute paths.
 */
import type { FieldProblem } from "@trainyard/kernel";
import { type AllowedValues, type Conditions, writtenType } from "./hyperparameters.ts";
import {
  describeValue,
  isMapping,
  type Json,
  type JsonObject,
  keyPath,
  sortedKeys,
  valueAt,
} from "../json.ts";
import { closest } from "../suggest.ts";

type Written = {
  readonly when: JsonObject;
  readonly path: string;
  readonly scope: readonly string[];
};

type Leaf = {
  readonly keys: readonly string[];
  readonly path: string;
  readonly node: Json;
  /** The hyperparameter's condition and those of its enclosing nests. */
  readonly written: readonly Written[];
};

export type ResolvedConditions = {
  readonly problems: readonly FieldProblem[];
  /** The conditions by the path of the hyperparameter. */
  readonly conditions: ReadonlyMap<string, Conditions>;
};

/** Returns the path of a hyperparameter as text, a JSON pointer (RFC 6901). */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Parses a path that `pointerOf` made. */
export function keysOfPointer(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Resolves every condition under `hyperparameters`, whose shapes were checked before. */
export function resolveConditions(space: JsonObject): ResolvedConditions {
  const problems: FieldProblem[] = [];
  const leaves = new Map<string, Leaf>();
  collect(space, { keys: [], path: "hyperparameters", written: [] }, leaves, problems);
  const conditions = new Map<string, Conditions>();
  for (const [pointer, leaf] of leaves) {
    const all = conditionsOf(leaf, leaves, problems);
    if (Object.keys(all).length > 0) conditions.set(pointer, all);
  }
  problems.push(...circles(conditions, leaves));
  return { problems: firstOfEachPath(problems), conditions };
}

/** A nest's condition is resolved for each hyperparameter in it, but a problem is reported once. */
function firstOfEachPath(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const seen = new Set<string>();
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path));
}

type Around = Pick<Leaf, "keys" | "path" | "written">;

function collect(
  nest: JsonObject,
  { keys, path, written }: Around,
  leaves: Map<string, Leaf>,
  problems: FieldProblem[],
): void {
  const entries = Object.entries(nest);
  if (entries.length === 0 && written.length > 0) {
    problems.push({ path, detail: "is empty: name the hyperparameters that the condition is for" });
  }
  for (const [key, node] of entries) {
    const here = { keys: [...keys, key], path: keyPath(path, key), written };
    const type = writtenType(node);
    const when = isMapping(node) && type !== null ? valueAt(node, "when") : undefined;
    const own = isMapping(when)
      ? [...written, { when, path: keyPath(here.path, "when"), scope: keys }]
      : written;
    if (isMapping(node) && type === "nested") {
      const inside = valueAt(node, "hyperparameters");
      const deeper = { ...here, path: keyPath(here.path, "hyperparameters"), written: own };
      collect(isMapping(inside) ? inside : {}, deeper, leaves, problems);
    } else if (isMapping(node) && type === null) {
      collect(node, here, leaves, problems);
    } else {
      leaves.set(pointerOf(here.keys), { ...here, node, written: own });
    }
  }
}

function conditionsOf(
  leaf: Leaf,
  leaves: ReadonlyMap<string, Leaf>,
  problems: FieldProblem[],
): Conditions {
  const all: Record<string, AllowedValues> = {};
  for (const { when, path, scope } of leaf.written) {
    for (const [name, wanted] of Object.entries(when)) {
      const at = keyPath(path, name);
      const found = lookedUp(name, scope, leaves);
      if (found === undefined) {
        problems.push({ path: at, detail: unknownParent(name, leaves) });
        continue;
      }
      const allowed = allowedValues(wanted);
      const problem = whyNever(found, allowed);
      if (problem !== null) problems.push({ path: at, detail: problem });
      const pointer = pointerOf(found.keys);
      all[pointer] = both(all[pointer], allowed);
    }
  }
  return all;
}

function unknownParent(name: string, leaves: ReadonlyMap<string, Leaf>): string {
  const known = [...leaves.values()].map(({ keys }) => keys.join("."));
  const meant = closest(name, known);
  return `is not a hyperparameter${meant === null ? "" : `; "${meant}" is`}`;
}

/** Searches beside the condition's place first, then in the enclosing nests. */
function lookedUp(
  name: string,
  scope: readonly string[],
  leaves: ReadonlyMap<string, Leaf>,
): Leaf | undefined {
  if (name.startsWith("/")) return leaves.get(name);
  for (let depth = scope.length; depth >= 0; depth -= 1) {
    const around = scope.slice(0, depth);
    const found =
      leaves.get(pointerOf([...around, name])) ??
      leaves.get(pointerOf([...around, ...name.split(".")]));
    if (found !== undefined) return found;
  }
  return undefined;
}

function allowedValues(wanted: Json): AllowedValues {
  if (Array.isArray(wanted)) return wanted.map(sortedKeys);
  if (!isRange(wanted)) return [sortedKeys(wanted)];
  const { minval, maxval } = wanted;
  return {
    ...(typeof minval === "number" ? { minval } : {}),
    ...(typeof maxval === "number" ? { maxval } : {}),
  };
}

function isRange(wanted: Json): wanted is { minval?: Json; maxval?: Json } {
  if (!isMapping(wanted)) return false;
  const keys = Object.keys(wanted);
  return (
    keys.length > 0 &&
    keys.every((key) => key === "minval" || key === "maxval") &&
    Object.values(wanted).every((bound) => typeof bound === "number")
  );
}

/** Returns whether a value is allowed; the order of a mapping's keys does not matter. */
export function isAllowedValue(allowed: AllowedValues, value: Json): boolean {
  if (Array.isArray(allowed)) return allowed.some((one) => isSameValue(one, value));
  const { minval = Number.NEGATIVE_INFINITY, maxval = Number.POSITIVE_INFINITY } = allowed;
  return typeof value === "number" && value >= minval && value <= maxval;
}

export function isSameValue(a: Json, b: Json): boolean {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return a === b;
  return JSON.stringify(sortedKeys(a)) === JSON.stringify(sortedKeys(b));
}

/** The values that both conditions allow. */
function both(one: AllowedValues | undefined, other: AllowedValues): AllowedValues {
  if (one === undefined) return other;
  if (Array.isArray(one)) return one.filter((value) => isAllowedValue(other, value));
  if (Array.isArray(other)) return other.filter((value) => isAllowedValue(one, value));
  const least = [one.minval, other.minval].filter((bound) => bound !== undefined);
  const most = [one.maxval, other.maxval].filter((bound) => bound !== undefined);
  return {
    ...(least.length === 0 ? {} : { minval: Math.max(...least) }),
    ...(most.length === 0 ? {} : { maxval: Math.min(...most) }),
  };
}

/** Returns why the other hyperparameter can never have an allowed value; null if it can. */
function whyNever({ keys, node }: Leaf, allowed: AllowedValues): string | null {
  const name = keys.join(".");
  if (Array.isArray(allowed) && allowed.length === 0) return "names no value";
  const choices = choicesOf(node);
  if (choices !== null) {
    if (!Array.isArray(allowed)) {
      return choices.some((choice) => isAllowedValue(allowed, choice))
        ? null
        : `is never true: ${name} has no value in it`;
    }
    const never = allowed.find((value) => !choices.some((choice) => isSameValue(choice, value)));
    return never === undefined
      ? null
      : `is never true: ${describeValue(never)} is not a value of ${name}`;
  }
  const type = writtenType(node);
  if (Array.isArray(allowed) && type !== "int") {
    return `compares ${name}, a ${type}, with single values: give a range, {minval: …, maxval: …}`;
  }
  const { minval, maxval } = node as { minval: number; maxval: number };
  if (type === "log") return null;
  if (Array.isArray(allowed)) {
    const never = allowed.find(
      (value) => !Number.isInteger(value) || Number(value) < minval || Number(value) > maxval,
    );
    return never === undefined
      ? null
      : `is never true: ${describeValue(never)} is not a value of ${name}`;
  }
  const out = (allowed.minval ?? minval) > maxval || (allowed.maxval ?? maxval) < minval;
  return out ? `is never true: ${name} has no value in it` : null;
}

/** Returns the values of a hyperparameter with separate values; null for a range. */
function choicesOf(node: Json): readonly Json[] | null {
  if (!isMapping(node)) return [node];
  const type = writtenType(node);
  if (type === "categorical") {
    const vals = valueAt(node, "vals");
    return Array.isArray(vals) ? vals : [];
  }
  return type === "const" ? [valueAt(node, "val") ?? null] : null;
}

/** Finds hyperparameters whose condition depends on themselves, directly or through others. */
function circles(
  conditions: ReadonlyMap<string, Conditions>,
  leaves: ReadonlyMap<string, Leaf>,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const settled = new Set<string>();
  const visit = (pointer: string, way: readonly string[]): void => {
    if (settled.has(pointer)) return;
    const before = way.indexOf(pointer);
    if (before !== -1) {
      const circle = [...way.slice(before), pointer].map((one) => keysOfPointer(one).join("."));
      const path = keyPath(leaves.get(pointer)?.path ?? "hyperparameters", "when");
      problems.push({ path, detail: `depends on itself: ${circle.join(" → ")}` });
      return;
    }
    for (const parent of Object.keys(conditions.get(pointer) ?? {})) {
      visit(parent, [...way, pointer]);
    }
    settled.add(pointer);
  };
  for (const pointer of conditions.keys()) visit(pointer, []);
  return problems;
}
