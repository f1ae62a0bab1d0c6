// Reads the protobuf bodies that kubectl's typed commands send, as `kubectl create secret` does, into JSON. Answers are
// JSON, which these clients accept as well. Source: docs, "Kubernetes API Concepts" (Protobuf encoding); protobuf.dev,
// "Encoding". Fields that hold the empty value are left out as in JSON, except pointers, whose zero has a meaning.
import numbers from "../schemas/field-numbers.json" with { type: "json" };
import { badRequest } from "../fault.ts";
import { type Schema, type StructSchema, structOf, typeNames } from "../schemas/schema.ts";

const MAGIC = Buffer.from("6b387300", "hex");
const NUMBERS: Readonly<Record<string, Readonly<Record<string, string>>>> = numbers;
const POINTERS = new Set(["automountServiceAccountToken", "gracePeriodSeconds", "replicas"]);

export const isProtobuf = (contentType: string | undefined): boolean =>
  contentType?.startsWith("application/vnd.kubernetes.protobuf") === true;

/** The JSON text of a body. */
export const fromProtobuf = (body: Buffer): string => {
  if (!body.subarray(0, 4).equals(MAGIC))
    throw badRequest("provided data does not appear to be a protobuf message");
  const envelope = fieldsOf(body.subarray(4));
  const meta = fieldsOf(bytesAt(envelope, 1));
  const apiVersion = bytesAt(meta, 1).toString();
  const kind = bytesAt(meta, 2).toString();
  const name = typeNames().find((one) => isKind(one, apiVersion, kind));
  if (!name) throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}"`);
  return JSON.stringify({ ...structFrom(bytesAt(envelope, 2), structOf(name)), apiVersion, kind });
};

/** Options of requests are in every version, so their type names none. */
const isKind = (name: string, apiVersion: string, kind: string): boolean => {
  if (!name.endsWith(`.${kind}`)) return false;
  const version = structOf(name).fields.get("apiVersion");
  return (
    version?.type === "string" && (version.values?.includes(apiVersion) ?? kind.endsWith("Options"))
  );
};

type Wire = { number: number; value: Buffer | bigint };

const varint = (bytes: Buffer, at: number): { value: bigint; next: number } => {
  let value = 0n;
  for (let index = at; ; index += 1) {
    const byte = bytes[index] ?? 0;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (index - at));
    if (byte < 0x80) return { value, next: index + 1 };
  }
};

const fieldsOf = (bytes: Buffer): Wire[] => {
  const fields: Wire[] = [];
  for (let at = 0; at < bytes.length; ) {
    const key = varint(bytes, at);
    const number = Number(key.value >> 3n);
    const kind = Number(key.value & 7n);
    const head = varint(bytes, key.next);
    if (kind === 0) {
      fields.push({ number, value: head.value });
      at = head.next;
    } else if (kind === 2) {
      at = head.next + Number(head.value);
      fields.push({ number, value: bytes.subarray(head.next, at) });
    } else throw badRequest(`unexpected wire type ${kind}`);
  }
  return fields;
};

const bytesAt = (fields: readonly Wire[], number: number): Buffer => {
  const value = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
};

const valuesAt = (fields: readonly Wire[], path: readonly number[]): (Buffer | bigint)[] => {
  const [first, ...rest] = path;
  const values = fields.filter(({ number }) => number === first).map(({ value }) => value);
  if (rest.length === 0) return values;
  return values.flatMap((value) => (Buffer.isBuffer(value) ? valuesAt(fieldsOf(value), rest) : []));
};

const structFrom = (bytes: Buffer, struct: StructSchema): Record<string, unknown> => {
  const fields = fieldsOf(bytes);
  const result: Record<string, unknown> = {};
  for (const [field, path] of Object.entries(NUMBERS[struct.name] ?? {})) {
    const schema = struct.fields.get(field);
    const values = valuesAt(fields, path.split(".").map(Number));
    if (!schema || values.length === 0) continue;
    const value = valueOf(values, schema);
    const isZero = value === undefined || value === "" || value === false || value === 0;
    if (!isZero || POINTERS.has(field)) result[field] = value;
  }
  return result;
};

const valueOf = (values: readonly (Buffer | bigint)[], schema: Schema): unknown => {
  if (schema.type === "list") return values.map((value) => one(value, schema.item));
  if (schema.type !== "map") return one(values.at(-1) ?? 0n, schema);
  const entries = values.map((value) => {
    const entry = fieldsOf(value as Buffer);
    const content = entry.find(({ number }) => number === 2)?.value ?? Buffer.alloc(0);
    return [bytesAt(entry, 1).toString(), one(content, schema.item)];
  });
  return Object.fromEntries(entries);
};

const one = (value: Buffer | bigint, schema: Schema): unknown => {
  if (!Buffer.isBuffer(value))
    return schema.type === "bool" ? value !== 0n : Number(BigInt.asIntN(64, value));
  switch (schema.type) {
    case "struct":
      return structFrom(value, schema);
    case "quantity":
      return bytesAt(fieldsOf(value), 1).toString();
    case "intOrString": {
      const [type, number] = [1, 2].map((field) => valuesAt(fieldsOf(value), [field])[0] ?? 0n);
      return type === 1n
        ? bytesAt(fieldsOf(value), 3).toString()
        : Number(BigInt.asIntN(32, number as bigint));
    }
    case "time": {
      const seconds = valuesAt(fieldsOf(value), [1])[0];
      if (typeof seconds !== "bigint") return undefined;
      return `${new Date(Number(BigInt.asIntN(64, seconds)) * 1000).toISOString().slice(0, 19)}Z`;
    }
    case "bytes":
      return value.toString("base64");
    case "any":
      return JSON.parse(bytesAt(fieldsOf(value), 1).toString() || "null");
    case "list":
    case "map":
      return undefined;
    default:
      return value.toString();
  }
};
