/**
 * Reads the fields of a request from the query of its URL, by their descriptors: a text field is text even if its value
 * is `true`. A parameter has the field's name or its JSON name; a list has one parameter per value. Values follow the
 * rules of proto JSON. Unknown parameters are ignored, so that an older gateway accepts requests of newer clients.
 */
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  ScalarType,
} from "@bufbuild/protobuf";
import type { FieldProblem } from "@trainyard/kernel";
import { Problem } from "./problem.ts";

export type Query = Readonly<Record<string, string | readonly string[]>>;

/**
 * Returns the fields as proto JSON. Throws a Problem of 400 that names each invalid parameter and its expected form.
 * `except` are the fields in the path.
 */
export function readQuery(
  message: DescMessage,
  query: Query,
  except: readonly string[] = [],
): JsonObject {
  const fields: JsonObject = {};
  const problems: FieldProblem[] = [];
  for (const field of message.fields) {
    const path = [field.jsonName, field.name].find((name) => Object.hasOwn(query, name));
    const given = path === undefined ? undefined : query[path];
    if (path === undefined || given === undefined || except.includes(field.name)) continue;
    const read = readField(field, typeof given === "string" ? [given] : given);
    if (typeof read === "string") problems.push({ path, detail: read });
    else fields[field.jsonName] = read.value;
  }
  if (problems.length === 0) return fields;
  const sentences = problems.map(({ path, detail }) => `the query parameter ${path} ${detail}`);
  throw new Problem(400, "invalid_request", sentences.join("; "), { problems });
}

type Element = {
  readonly expected: string;
  readonly read: (text: string) => JsonValue | undefined;
};

/** Returns the value of a field, or a phrase that says what is wrong. */
function readField(
  field: DescField,
  texts: readonly string[],
): { readonly value: JsonValue } | string {
  const element = elementOf(field);
  if (element === null) return "cannot be given in a query";
  const isList = field.fieldKind === "list";
  if (!isList && texts.length > 1) return `is given ${texts.length} times and takes one value`;
  const values: JsonValue[] = [];
  for (const text of texts) {
    const value = element.read(text);
    if (value === undefined) {
      return `is ${JSON.stringify(text)} and should be ${element.expected}`;
    }
    values.push(value);
  }
  const [first = null] = values;
  return { value: isList ? values : first };
}

/** Returns how to read a value of the field; null for messages and maps, which have no text form. */
function elementOf(field: DescField): Element | null {
  if (field.enum !== undefined) return enumElement(field.enum);
  if (field.fieldKind === "map" || field.scalar === undefined) return null;
  return scalarElement(field.scalar);
}

function enumElement({ values }: DescEnum): Element {
  const names = values.map(({ name }) => name);
  return {
    expected: `one of ${names.join(", ")}, or its number`,
    read: (text) => values.find(({ name, number }) => name === text || `${number}` === text)?.name,
  };
}

const int32 = integers(-(2n ** 31n), 2n ** 31n - 1n, Number);
const uint32 = integers(0n, 2n ** 32n - 1n, Number);
// A JavaScript number cannot hold 64 bits, so proto JSON has 64-bit integers as text.
const int64 = integers(-(2n ** 63n), 2n ** 63n - 1n, String);
const uint64 = integers(0n, 2n ** 64n - 1n, String);
const float: Element = {
  expected: "a number, NaN, Infinity or -Infinity",
  read: (text) => {
    if (/^(NaN|-?Infinity)$/.test(text)) return text;
    return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
  },
};
const boolean: Element = {
  expected: "true or false",
  read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
};
const text: Element = { expected: "text", read: (given) => given };
const bytes: Element = {
  expected: "base64",
  read: (given) => (/^[\w+/-]*={0,2}$/.test(given) ? given : undefined),
};

function scalarElement(scalar: ScalarType): Element {
  switch (scalar) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BYTES:
      return bytes;
    case ScalarType.BOOL:
      return boolean;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return float;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return int32;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return uint32;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return int64;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return uint64;
  }
}

function integers(least: bigint, most: bigint, value: (number: bigint) => JsonValue): Element {
  return {
    expected: `an integer from ${least} to ${most}`,
    read: (digits) => {
      if (!/^-?\d{1,20}$/.test(digits)) return undefined;
      const number = BigInt(digits);
      return number < least || number > most ? undefined : value(number);
    },
  };
}
