// Sets of fields, as managers own them. A field is a path: "f:spec", "f:replicas"; an item of a list that is merged by
// keys is "k:" with its keys as JSON, an item of a set is "v:" with its value. A set has the paths of leaves and of
// items. Source: docs, "Server-Side Apply" (field management); API reference, "FieldsV1"; KEP-555.
import { ApiFault } from "../fault.ts";
import { KEY_DEFAULTS } from "../schemas/merge-keys.ts";
import type { ListSchema, Schema, StructSchema } from "../schemas/schema.ts";

export type FieldSet = ReadonlySet<string>;

const SEPARATOR = "\n";

export const join = (path: string, element: string): string =>
  path === "" ? element : `${path}${SEPARATOR}${element}`;

export const elementsOf = (path: string): string[] => path.split(SEPARATOR);

/** Text that is equal for equal values. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

type Strictness = {
  /** An applied configuration may not name an item twice, leave its keys out, or name an unknown field. */
  strict: boolean;
  errors: string[];
};

/** Every leaf and item of a value, each with its content; an item itself has none. */
export const leavesOf = (value: unknown, schema: Schema): Map<string, string> => {
  const leaves = new Map<string, string>();
  collect(value, schema, "", leaves, { strict: false, errors: [] });
  return leaves;
};

/** Throws the fault of a real server for a configuration that cannot be merged. */
export const appliedLeaves = (
  value: unknown,
  schema: StructSchema,
  what: string,
): Map<string, string> => {
  const leaves = new Map<string, string>();
  const check: Strictness = { strict: true, errors: [] };
  collect(value, schema, "", leaves, check);
  if (check.errors.length > 0) {
    const text =
      check.errors.length === 1
        ? check.errors[0]
        : `errors:\n${check.errors.map((error) => `  ${error}`).join("\n")}`;
    throw new ApiFault(
      500,
      "InternalError",
      `failed to create typed patch object (${what}): ${text}`,
    );
  }
  return leaves;
};

const collect = (
  value: unknown,
  schema: Schema,
  path: string,
  leaves: Map<string, string>,
  check: Strictness,
): void => {
  if (isScalar(schema) || schema.atomic || value === null || typeof value !== "object") {
    if (check.strict) checkType(value, schema, path, check);
    leaves.set(path, canonical(value));
    return;
  }
  if (schema.type === "list") {
    collectItems(value, schema, path, leaves, check);
    return;
  }
  if (schema.type !== "struct" && schema.type !== "map") return;
  const entries = Object.entries(value).filter(([, content]) => content !== undefined);
  if (entries.length === 0 && path !== "") leaves.set(path, "{}");
  for (const [field, content] of entries) {
    const inner = schema.type === "map" ? schema.item : schema.fields.get(field);
    if (inner) collect(content, inner, join(path, `f:${field}`), leaves, check);
    else if (check.strict)
      check.errors.push(`${textOf(join(path, `f:${field}`))}: field not declared in schema`);
  }
};

const collectItems = (
  value: unknown,
  schema: ListSchema,
  path: string,
  leaves: Map<string, string>,
  check: Strictness,
): void => {
  if (!Array.isArray(value)) {
    check.errors.push(`${textOf(path)}: expected list, got ${typeof value}`);
    return;
  }
  if (value.length === 0) leaves.set(path, "[]");
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const element = itemElement(item, schema);
    if (element === null) {
      const missing = schema.keys.find((key) => item?.[key] === undefined) ?? "";
      const why = "associative list with keys has an element that omits key field";
      check.errors.push(
        `${textOf(path)}: element ${index}: ${why} ${JSON.stringify(missing)} (and doesn't have default value)`,
      );
      return;
    }
    if (seen.has(element)) {
      if (check.strict)
        check.errors.push(`${textOf(path)}: duplicate entries for key ${keyText(element)}`);
      return;
    }
    seen.add(element);
    const there = join(path, element);
    leaves.set(there, schema.set ? canonical(item) : "");
    if (!schema.set) collect(item, schema.item, there, leaves, check);
  });
};

/** Null if a key is absent and has no default. */
export const itemElement = (item: unknown, schema: ListSchema): string | null => {
  if (schema.set) return `v:${JSON.stringify(item)}`;
  const keys: Record<string, unknown> = {};
  for (const key of [...schema.keys].sort()) {
    const value = (item as Record<string, unknown> | null)?.[key] ?? keyDefault(key, schema.item);
    if (value === undefined) return null;
    keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
};

const keyDefault = (key: string, item: Schema): unknown => {
  if (KEY_DEFAULTS[key] !== undefined || item.type !== "struct") return KEY_DEFAULTS[key];
  if (!item.required.has(key)) return undefined;
  return item.fields.get(key)?.type === "int" ? 0 : "";
};

const isScalar = (schema: Schema): boolean => !["struct", "map", "list"].includes(schema.type);

const checkType = (value: unknown, schema: Schema, path: string, check: Strictness): void => {
  if (value === null || value === undefined) return;
  const wanted: Record<string, readonly string[]> = {
    string: ["string"],
    time: ["string"],
    bytes: ["string"],
    int: ["number"],
    bool: ["boolean"],
    quantity: ["string", "number"],
    intOrString: ["string", "number"],
  };
  const allowed = wanted[schema.type];
  if (schema.type === "list" && !Array.isArray(value))
    check.errors.push(`${textOf(path)}: expected list`);
  if (
    ["struct", "map"].includes(schema.type) &&
    (typeof value !== "object" || Array.isArray(value))
  ) {
    check.errors.push(`${textOf(path)}: expected map, got ${typeof value}`);
  }
  if (!allowed || allowed.includes(typeof value)) return;
  const name =
    schema.type === "int"
      ? "numeric (int or float)"
      : schema.type === "bool"
        ? "boolean"
        : "string";
  check.errors.push(`${textOf(path)}: expected ${name}, got ${typeof value}`);
};

const keyText = (element: string): string => {
  if (element.startsWith("v:")) return element.slice(2);
  const keys = JSON.parse(element.slice(2)) as Record<string, unknown>;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(",")}]`;
};

/** ".spec.containers[name="a"].image", as messages of conflicts have it. */
export const textOf = (path: string): string =>
  elementsOf(path)
    .map((element) => {
      if (element.startsWith("f:")) return `.${element.slice(2)}`;
      return element.startsWith("v:") ? `[=${element.slice(2)}]` : keyText(element);
    })
    .join("");

type Trie = { [element: string]: Trie };

export const fieldsV1Of = (set: FieldSet): Record<string, unknown> => {
  const root: Trie = {};
  const paths = [...set].sort();
  for (const path of paths) {
    let node = root;
    for (const element of elementsOf(path)) {
      node[element] ??= {};
      node = node[element];
    }
  }
  // A path that others begin with says by "." that it is in the set itself.
  for (const path of paths) {
    let node: Trie | undefined = root;
    for (const element of elementsOf(path)) node = node?.[element];
    if (node && Object.keys(node).length > 0) node["."] = {};
  }
  return root;
};

export const fieldSetOf = (fieldsV1: unknown): Set<string> => {
  const set = new Set<string>();
  const visit = (node: unknown, path: string): void => {
    const entries = Object.entries((node ?? {}) as Trie);
    if (entries.length === 0 && path !== "") set.add(path);
    for (const [element, inner] of entries) {
      if (element === ".") set.add(path);
      else visit(inner, join(path, element));
    }
  };
  visit(fieldsV1, "");
  return set;
};

/** Whether the set has the path or a path within it. */
export const touches = (set: FieldSet, path: string): boolean => {
  if (set.has(path)) return true;
  const within = `${path}${SEPARATOR}`;
  for (const other of set) if (other.startsWith(within)) return true;
  return false;
};
