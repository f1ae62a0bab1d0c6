/**
 * Converts messages to proto JSON text and back, with functions that are compiled once per message type.
 *
 * toJson and fromJson of @bufbuild/protobuf walk the descriptor for every value and are ten times slower than JSON of
 * plain objects; a log is folded a million events at a time. The result is the same text and the same fields (a
 * property test compares both), in the canonical form of the proto3 JSON mapping: camelCase names, defaults left out,
 * enums by name, NaN and the infinities as strings. Reading also accepts the other forms that the mapping allows
 * (original names, numbers as strings); unknown fields are ignored, unknown enum names are refused. Not covered because
 * the platform does not use them: 64-bit integers, maps with message values, Any, extensions, groups.
 */
import type { DescEnum, DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { Fault } from "@trainyard/kernel";

type Read = (value: JsonValue) => unknown;
type Write = (value: unknown) => JsonValue;
type PlainRecord = Record<string, unknown>;

export type Codec<T> = {
  /** Reads parsed proto JSON; throws a Fault `undecodable`. */
  readonly fromJson: (json: JsonValue) => T;
  readonly toJson: (message: T) => JsonObject;
  /** Writes every field, including those with their default value, for the public API. */
  readonly toFullJson: (message: T) => JsonObject;
  readonly decode: (text: string) => T;
  readonly encode: (message: T) => string;
};

const codecs = new Map<string, Codec<never>>();

/** Returns the codec of a message type, which is compiled on first use. */
export function codecOf<T>(descriptor: DescMessage): Codec<T> {
  const known = codecs.get(descriptor.typeName);
  if (known !== undefined) return known as unknown as Codec<T>; // The key is the type's name, so the cast is safe.
  const codec = compile<T>(descriptor);
  codecs.set(descriptor.typeName, codec as unknown as Codec<never>); // The map has codecs of all types.
  return codec;
}

function compile<T>(descriptor: DescMessage): Codec<T> {
  const read = messageReader(descriptor);
  const write = messageWriter(descriptor, false);
  const writeFull = messageWriter(descriptor, true);
  return {
    fromJson: (json) => read(json) as T,
    toJson: (message) => write(message) as JsonObject,
    toFullJson: (message) => writeFull(message) as JsonObject,
    decode: (text) => read(parse(text, descriptor.typeName)) as T,
    encode: (message) => JSON.stringify(write(message)),
  };
}

function parse(text: string, typeName: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw undecodable(`the text of a ${typeName} is not JSON`, cause);
  }
}

function undecodable(detail: string, cause?: unknown): Fault {
  return new Fault("undecodable", detail, { retry: "never", cause });
}

// A recursive type would recurse forever here: on the second visit the reader looks up the codec when it runs.
const compiling = new Set<string>();

function messageReader(descriptor: DescMessage): Read {
  if (descriptor.typeName === "google.protobuf.Struct") return (value) => value;
  if (descriptor.typeName === "google.protobuf.Value") return (value) => value;
  compiling.add(descriptor.typeName);
  const fields = descriptor.fields.map(fieldReader);
  compiling.delete(descriptor.typeName);
  return (json) => {
    if (json === null || typeof json !== "object" || Array.isArray(json)) {
      throw undecodable(`a ${descriptor.typeName} is an object`);
    }
    const message: PlainRecord = {};
    for (const oneof of descriptor.oneofs) {
      if (oneof.fields.length > 1) message[oneof.localName] = { case: undefined };
    }
    for (const field of fields) field(json, message);
    return message;
  };
}

function fieldReader(field: DescField): (json: JsonObject, message: PlainRecord) => void {
  const { jsonName, name, localName } = field;
  const read = valueReader(field);
  const oneof = field.oneof !== undefined && field.oneof.fields.length > 1 ? field.oneof : null;
  const absent = defaultOf(field);
  return (json, message) => {
    const value = json[jsonName] ?? json[name];
    if (value === undefined || value === null) {
      if (oneof === null && absent !== undefined) {
        message[localName] = typeof absent === "object" ? freshDefault(field) : absent;
      }
      return;
    }
    let decoded: unknown;
    try {
      decoded = read(value);
    } catch (cause) {
      throw undecodable(`${field.parent.typeName}.${name} cannot be read`, cause);
    }
    if (oneof === null) message[localName] = decoded;
    else message[oneof.localName] = { case: localName, value: decoded };
  };
}

/** Lists, maps and bytes are mutable, so each message needs separate ones. */
function freshDefault(field: DescField): unknown {
  if (field.fieldKind === "scalar") return new Uint8Array();
  return field.fieldKind === "list" ? [] : {};
}

/** Returns the value of an absent field; undefined for a field with presence. */
function defaultOf(field: DescField): unknown {
  if (field.fieldKind === "list") return [];
  if (field.fieldKind === "map") return {};
  if (field.fieldKind === "message" || field.proto.proto3Optional) return undefined;
  if (field.fieldKind === "enum") return 0;
  return scalarDefault(field.scalar);
}

function scalarDefault(scalar: ScalarType): unknown {
  if (scalar === ScalarType.STRING) return "";
  if (scalar === ScalarType.BOOL) return false;
  if (scalar === ScalarType.BYTES) return new Uint8Array();
  return 0;
}

function valueReader(field: DescField): Read {
  if (field.fieldKind === "list") {
    const item = elementReader(field);
    return (value) => {
      if (!Array.isArray(value)) throw undecodable(`${field.name} is a list`);
      return value.map(item);
    };
  }
  if (field.fieldKind === "map") {
    const item = elementReader(field);
    return (value) => {
      if (value === null || typeof value !== "object" || Array.isArray(value)) {
        throw undecodable(`${field.name} is an object`);
      }
      return readMap(value, item);
    };
  }
  return elementReader(field);
}

/**
 * The parsed map is returned unchanged unless an entry needs conversion: a log is folded a million events at a time.
 */
function readMap(parsed: JsonObject, item: Read): PlainRecord {
  for (const key of Object.keys(parsed)) {
    const entry = parsed[key];
    if (entry === undefined || !Object.is(item(entry), entry)) return copyMap(parsed, item);
  }
  return parsed;
}

function copyMap(parsed: JsonObject, item: Read): PlainRecord {
  const map: PlainRecord = {};
  for (const [key, entry] of Object.entries(parsed)) setKey(map, key, item(entry));
  return map;
}

/** Sets a key even if it is __proto__, which is a possible metric name. */
function setKey(target: PlainRecord, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else {
    target[key] = value;
  }
}

function elementReader(field: DescField): Read {
  if (field.message !== undefined) {
    const descriptor = field.message;
    if (!compiling.has(descriptor.typeName)) return messageReader(descriptor);
    return (value) => codecOf<unknown>(descriptor).fromJson(value);
  }
  if (field.enum !== undefined) return enumReader(field.enum);
  assertScalar(field);
  return scalarReader(field.scalar);
}

function assertScalar(field: DescField): asserts field is DescField & { scalar: ScalarType } {
  if (field.scalar === undefined) throw undecodable(`${field.name} has no scalar type`);
}

function enumReader(descriptor: DescEnum): Read {
  const numbers = new Map(descriptor.values.map((value) => [value.name, value.number]));
  return (value) => {
    if (typeof value === "number") return value;
    const number = typeof value === "string" ? numbers.get(value) : undefined;
    if (number === undefined) {
      throw undecodable(`${JSON.stringify(value)} is no ${descriptor.typeName}`);
    }
    return number;
  };
}

function scalarReader(scalar: ScalarType): Read {
  switch (scalar) {
    case ScalarType.STRING:
      return (value) => {
        if (typeof value !== "string") throw undecodable("expected a string");
        return value;
      };
    case ScalarType.BOOL:
      return (value) => {
        if (typeof value !== "boolean") throw undecodable("expected true or false");
        return value;
      };
    case ScalarType.BYTES:
      return (value) => {
        if (typeof value !== "string") throw undecodable("expected base64");
        return new Uint8Array(Buffer.from(value, "base64"));
      };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return readDouble;
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return (value) => readInteger(value, scalar === ScalarType.UINT32);
    default:
      throw undecodable(`scalar type ${ScalarType[scalar]} is not used in this project`);
  }
}

function readDouble(value: JsonValue): number {
  if (typeof value === "number") return value;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  if (value === "-Infinity") return Number.NEGATIVE_INFINITY;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw undecodable("expected a number");
  return number;
}

function readInteger(value: JsonValue, unsigned: boolean): number {
  const number = readDouble(value);
  const low = unsigned ? 0 : -0x80000000;
  const high = unsigned ? 0xffffffff : 0x7fffffff;
  if (!Number.isInteger(number) || number < low || number > high) {
    throw undecodable("expected an integer of 32 bits");
  }
  return number;
}

function messageWriter(descriptor: DescMessage, full: boolean): Write {
  if (descriptor.typeName === "google.protobuf.Struct") return (value) => value as JsonValue;
  if (descriptor.typeName === "google.protobuf.Value") return (value) => value as JsonValue;
  compiling.add(descriptor.typeName);
  const fields = descriptor.fields.map((field) => fieldWriter(field, full));
  compiling.delete(descriptor.typeName);
  return (value) => {
    const message = value as PlainRecord;
    const json: JsonObject = {};
    for (const field of fields) field(message, json);
    return json;
  };
}

function fieldWriter(
  field: DescField,
  full: boolean,
): (message: PlainRecord, json: JsonObject) => void {
  const { jsonName, localName } = field;
  const write = valueWriter(field, full);
  const oneof = field.oneof !== undefined && field.oneof.fields.length > 1 ? field.oneof : null;
  if (oneof !== null) {
    return (message, json) => {
      const chosen = message[oneof.localName] as { case?: string; value?: unknown } | undefined;
      if (chosen?.case === localName) json[jsonName] = write(chosen.value);
    };
  }
  const absent = defaultOf(field);
  return (message, json) => {
    const value = message[localName];
    if (value === undefined) return;
    if (!full && absent !== undefined && isDefault(field, value)) return;
    json[jsonName] = write(value);
  };
}

function isDefault(field: DescField, value: unknown): boolean {
  if (field.fieldKind === "list") return (value as readonly unknown[]).length === 0;
  if (field.fieldKind === "map") return Object.keys(value as object).length === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  return Object.is(value, 0) || value === "" || value === false;
}

function valueWriter(field: DescField, full: boolean): Write {
  const element = elementWriter(field, full);
  if (field.fieldKind === "list") return (value) => (value as readonly unknown[]).map(element);
  if (field.fieldKind === "map") {
    return (value) => {
      const json: PlainRecord = {};
      for (const [key, entry] of Object.entries(value as PlainRecord)) {
        setKey(json, key, element(entry));
      }
      return json as JsonObject;
    };
  }
  return element;
}

function elementWriter(field: DescField, full: boolean): Write {
  if (field.message !== undefined) {
    const descriptor = field.message;
    if (!compiling.has(descriptor.typeName)) return messageWriter(descriptor, full);
    const codec = (): Codec<unknown> => codecOf<unknown>(descriptor);
    return (value) => (full ? codec().toFullJson(value) : codec().toJson(value));
  }
  if (field.enum !== undefined) {
    const names = new Map(field.enum.values.map((value) => [value.number, value.name]));
    return (value) => names.get(value as number) ?? (value as number);
  }
  if (field.scalar === ScalarType.BYTES) {
    return (value) => Buffer.from(value as Uint8Array).toString("base64");
  }
  if (field.scalar === ScalarType.DOUBLE || field.scalar === ScalarType.FLOAT) return writeDouble;
  return (value) => value as JsonValue;
}

function writeDouble(value: unknown): JsonValue {
  const number = value as number;
  if (Number.isFinite(number)) return Object.is(number, -0) ? 0 : number;
  return Number.isNaN(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}
