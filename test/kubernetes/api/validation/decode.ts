// Reads a body as the types of its kind: a field of another type is refused, a field that the kind lacks is named and
// dropped, and null is the same as absent. Source: docs, "Kubernetes API Concepts" (validation for unrecognized or
// duplicate fields); API reference, "Quantity" and "Time".
import { badRequest } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { Schema, StructSchema } from "../schemas/schema.ts";
import { canonicalQuantity } from "./quantity.ts";

export type Decoded = { object: KubeObject; unknown: string[] };

/** Throws a 400 that begins as a real server's does. */
export const decodeObject = (value: unknown, schema: StructSchema): Decoded => {
  const unknown: string[] = [];
  const short = schema.name.split(".").at(-1) ?? "";
  const version = schema.name.split(".").at(-2) ?? "";
  try {
    const object = decode(value, schema, { path: "", plain: "", struct: short, unknown });
    return { object: object as KubeObject, unknown };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${short} in version "${version}" cannot be handled as a ${short}: ${error.message}`,
    );
  }
};

class DecodeError extends Error {}

type Place = {
  /** With indexes, as unknown fields are named: "spec.containers[0].image". */
  path: string;
  /** Without indexes, as errors of types name it. */
  plain: string;
  struct: string;
  unknown: string[];
};

const decode = (value: unknown, schema: Schema, place: Place): unknown => {
  if (schema.type === "struct") return decodeStruct(value, schema, place);
  if (schema.type === "map") {
    const entries = Object.entries(asRecord(value, `map[string]${goType(schema.item)}`, place));
    return Object.fromEntries(
      entries.map(([key, item]) => [key, decodeItem(item, schema.item, inside(place, key))]),
    );
  }
  if (schema.type === "list") {
    if (!Array.isArray(value)) throw mismatch(value, `[]${goType(schema.item)}`, place);
    return value.map((item, index) =>
      decodeItem(item, schema.item, { ...place, path: `${place.path}[${index}]` }),
    );
  }
  return decodeScalar(value, schema.type, place);
};

/** An item may be null where a field may be absent: it is the empty value then. */
const decodeItem = (value: unknown, schema: Schema, place: Place): unknown => {
  if (value !== null) return decode(value, schema, place);
  if (schema.type === "struct" || schema.type === "map") return {};
  if (schema.type === "list") return [];
  return { string: "", int: 0, bool: false }[schema.type as string] ?? null;
};

const inside = (place: Place, field: string): Place => ({
  ...place,
  path: place.path === "" ? field : `${place.path}.${field}`,
  plain: place.plain === "" ? field : `${place.plain}.${field}`,
});

const decodeStruct = (value: unknown, schema: StructSchema, place: Place): unknown => {
  const struct = schema.name.split(".").at(-1) ?? "";
  const record = asRecord(value, struct, place);
  const result: Record<string, unknown> = {};
  for (const [field, content] of Object.entries(record)) {
    const declared = schema.fields.get(field);
    const there = { ...inside(place, field), struct };
    if (!declared) {
      place.unknown.push(there.path);
      continue;
    }
    if (content !== null && content !== undefined) result[field] = decode(content, declared, there);
  }
  return result;
};

const decodeScalar = (value: unknown, type: string, place: Place): unknown => {
  switch (type) {
    case "string":
      if (typeof value !== "string") throw mismatch(value, "string", place);
      return value;
    case "bool":
      if (typeof value !== "boolean") throw mismatch(value, "bool", place);
      return value;
    case "int":
      if (!Number.isInteger(value)) throw mismatch(value, "int32", place);
      return value;
    case "intOrString":
      if (typeof value !== "string" && !Number.isInteger(value)) {
        throw mismatch(value, "intstr.IntOrString", place);
      }
      return value;
    case "quantity":
      return decodeQuantity(value);
    case "time":
      return decodeTime(value, place);
    case "bytes":
      return decodeBytes(value, place);
    default:
      return value;
  }
};

const decodeQuantity = (value: unknown): string => {
  const canonical =
    typeof value === "string" || typeof value === "number"
      ? canonicalQuantity(String(value))
      : null;
  if (canonical === null) {
    const form = "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    throw new DecodeError(`quantities must match the regular expression ${form}`);
  }
  return canonical;
};

const decodeTime = (value: unknown, place: Place): string => {
  if (typeof value !== "string") throw mismatch(value, "string", place);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)) {
    throw new DecodeError(`parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00"`);
  }
  return value;
};

const decodeBytes = (value: unknown, place: Place): string => {
  if (typeof value !== "string") throw mismatch(value, "[]uint8", place);
  const text = value.replaceAll(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    const at = /^[A-Za-z0-9+/]*/.exec(text)?.[0].length ?? 0;
    throw new DecodeError(`illegal base64 data at input byte ${Math.min(at, text.length)}`);
  }
  return text;
};

const asRecord = (value: unknown, go: string, place: Place): Record<string, unknown> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw mismatch(value, go, place);
  }
  return value as Record<string, unknown>;
};

const goType = (schema: Schema): string => {
  if (schema.type === "struct") return schema.name.split(".").at(-1) ?? "";
  if (schema.type === "map") return `map[string]${goType(schema.item)}`;
  if (schema.type === "list") return `[]${goType(schema.item)}`;
  return schema.type === "int" ? "int32" : schema.type;
};

const mismatch = (value: unknown, go: string, { struct, plain }: Place): DecodeError => {
  const kind = Array.isArray(value)
    ? "array"
    : typeof value === "boolean"
      ? "bool"
      : typeof value === "number" && go === "int32"
        ? `number ${value}`
        : typeof value;
  const where =
    plain === "" ? `Go value of type ${go}` : `Go struct field ${struct}.${plain} of type ${go}`;
  return new DecodeError(`json: cannot unmarshal ${kind} into ${where}`);
};
