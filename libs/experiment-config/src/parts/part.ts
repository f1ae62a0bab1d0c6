/**
 * A part of the configuration, such as the whole document or a section: its schema, rules across keys, required keys,
 * older shapes, defaults, and its merge rule. The stages below walk the tree of parts. A document passes them in this
 * order: `sanity` as written, `rewritten`, `laidOver` the cluster's defaults, `filled`, `completeness`.
 */
import type { FieldProblem } from "@trainyard/kernel";
import { z } from "zod";
import {
  isMapping,
  itemPath,
  type Json,
  type JsonObject,
  keyPath,
  pathOf,
  valueAt,
} from "../json.ts";
import { innerProblems } from "../sentences.ts";

export type Note = (path: string, detail: string) => void;
export type Check = (value: Json, path: string, note: Note) => void;

/** The values that the submitter draws if they are absent. */
export type Drawn = { readonly seed: number };

export type Part = {
  readonly schema: z.ZodType;
  /** The parts of a mapping by key. */
  readonly parts?: Readonly<Record<string, Part>>;
  /** The part of each item of a list, or of each value of a mapping with arbitrary keys. */
  readonly each?: Part;
  /** Chooses the part of a value among several kinds. */
  readonly kind?: (value: Json) => Part | undefined;
  /** Rules across several keys. */
  readonly check?: Check;
  /** Required keys, each with the text that follows "is missing: " in the problem. */
  readonly required?: Readonly<Record<string, string>>;
  /** Further rules for the completed value. */
  readonly completeCheck?: Check;
  /** Rewrites older shapes to the latest one; a wrong shape stays unchanged. */
  readonly rewrite?: (value: Json) => Json;
  /** The defaults of a mapping's absent keys. */
  readonly defaults?: JsonObject;
  /** Fills in defaults that are computed or drawn. */
  readonly fill?: (value: Json, drawn: Drawn) => Json;
  /**
   * Merges the first value over the second; by default mappings are merged key by key, and otherwise the first value
   * wins.
   */
  readonly merge?: (mine: Json, theirs: Json) => Json;
  /** Handles null where it does not mean absent. */
  readonly withoutNulls?: (value: Json) => Json;
};

/** Returns all problems of a value as written that no addition could fix. */
export function sanity(part: Part, value: Json, path = ""): readonly FieldProblem[] {
  const problems: FieldProblem[] = innerProblems(part.schema, value).map((problem) => ({
    path: pathOf(problem.path, path),
    detail: problem.detail,
  }));
  const note: Note = (at, detail) => problems.push({ path: at, detail });
  visit(part, value, path, (one, inner, at) => one.check?.(inner, at, note));
  return problems;
}

/** Returns the missing keys of a value that gets no further defaults. */
export function missing(part: Part, value: Json, path = ""): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const note: Note = (at, detail) => problems.push({ path: at, detail });
  visit(part, value, path, (one, inner, at) => {
    if (isMapping(inner)) {
      for (const [key, what] of Object.entries(one.required ?? {})) {
        if ((valueAt(inner, key) ?? null) !== null) continue;
        note(keyPath(at, key), what === "" ? "is missing" : `is missing: ${what}`);
      }
    }
    one.completeCheck?.(inner, at, note);
  });
  return problems;
}

export function completeness(part: Part, value: Json, path = ""): readonly FieldProblem[] {
  return [...sanity(part, value, path), ...missing(part, value, path)];
}

function visit(
  part: Part,
  value: Json,
  path: string,
  see: (part: Part, value: Json, path: string) => void,
): void {
  see(part, value, path);
  const kind = part.kind?.(value);
  if (kind !== undefined) visit(kind, value, path, see);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (part.each !== undefined) visit(part.each, item, itemPath(path, index), see);
    }
  } else if (isMapping(value)) {
    for (const [key, item] of Object.entries(value)) {
      const inner = partAt(part, key);
      if (inner !== undefined) visit(inner, item, keyPath(path, key), see);
    }
  }
}

function partAt(part: Part, key: string): Part | undefined {
  const own = part.parts;
  return own !== undefined && Object.hasOwn(own, key) ? own[key] : part.each;
}

/** Returns the value in its latest shapes. */
export function rewritten(part: Part, value: Json): Json {
  const own = part.rewrite?.(value) ?? value;
  const kind = part.kind?.(own);
  const kindly = kind === undefined ? own : rewritten(kind, own);
  return mapInside(part, kindly, rewritten);
}

/** Returns the value with every default filled in. */
export function filled(part: Part, value: Json, drawn: Drawn): Json {
  if (value === null && part.defaults !== undefined) return filled(part, {}, drawn);
  const kind = part.kind?.(value);
  let full = kind === undefined ? value : filled(kind, value, drawn);
  full = part.fill?.(full, drawn) ?? full;
  if (isMapping(full)) full = withDefaults(part.defaults ?? {}, full);
  return mapInside(part, full, (one, inner) => filled(one, inner, drawn));
}

function withDefaults(defaults: JsonObject, value: JsonObject): JsonObject {
  const full: JsonObject = { ...value };
  for (const [key, byDefault] of Object.entries(defaults)) {
    if ((valueAt(value, key) ?? null) === null) full[key] = byDefault;
  }
  return full;
}

function mapInside(part: Part, value: Json, change: (part: Part, value: Json) => Json): Json {
  if (Array.isArray(value)) {
    const { each } = part;
    return each === undefined ? value : value.map((item) => change(each, item));
  }
  if (!isMapping(value)) return value;
  const changed: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const inner = partAt(part, key);
    changed[key] = inner === undefined ? item : change(inner, item);
  }
  return changed;
}

/** Merges the first value over the second; both are rewritten. */
export function laidOver(part: Part, mine: Json, theirs: Json): Json {
  if (mine === null || theirs === null) return mine ?? theirs;
  if (part.merge !== undefined) return part.merge(mine, theirs);
  if (!isMapping(mine) || !isMapping(theirs)) return mine;
  const merged: JsonObject = { ...theirs };
  for (const [key, value] of Object.entries(mine)) {
    const other = valueAt(theirs, key);
    const inner = partAt(part, key);
    merged[key] = other === undefined ? value : laidOver(inner ?? anyPart, value, other);
  }
  return merged;
}

/** Returns the value without its nulls, which mean absent nearly everywhere. */
export function withoutNulls(part: Part, value: Json): Json {
  if (part.withoutNulls !== undefined) return part.withoutNulls(value);
  if (Array.isArray(value)) return value.map((item) => withoutNulls(part.each ?? anyPart, item));
  if (!isMapping(value)) return value;
  const kept: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== null) kept[key] = withoutNulls(partAt(part, key) ?? anyPart, item);
  }
  return kept;
}

const anyPart: Part = { schema: z.any() };
