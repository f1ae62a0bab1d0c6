/**
 * Lists the fields of a message, and those that a stored body of it contains. A field is a path of the names in the
 * body: `operations.propose.target`. Lists and maps add nothing to a path, and a google.protobuf message is one value.
 */
import type { eventTypes } from "@trainyard/contracts";

type Message = (typeof eventTypes)[number]["schema"];
type Field = Message["fields"][number];
type EnumValues = readonly [name: string, values: readonly string[]];

/** A recursive message adds no path: its fields are listed one level up. */
export function fieldPaths(message: Message, above: readonly Message[] = []): readonly string[] {
  if (above.includes(message)) return [];
  return message.fields.flatMap((field) => {
    const inner = messageOf(field);
    const below = inner === null ? [] : fieldPaths(inner, [...above, message]);
    return [field.jsonName, ...below.map((path) => `${field.jsonName}.${path}`)];
  });
}

/** A stored body omits defaults, so a field in it has a value that must survive reading and writing. */
export function heldPaths(message: Message, body: unknown): readonly string[] {
  const values = body as Readonly<Record<string, unknown>>;
  return message.fields.flatMap((field) => {
    const value = values[field.jsonName];
    if (value === undefined) return [];
    const inner = messageOf(field);
    const below =
      inner === null ? [] : elementsOf(field, value).flatMap((one) => heldPaths(inner, one));
    return [field.jsonName, ...below.map((path) => `${field.jsonName}.${path}`)];
  });
}

function messageOf({ message }: Field): Message | null {
  if (message === undefined || message.typeName.startsWith("google.protobuf.")) return null;
  return message;
}

function elementsOf(field: Field, value: unknown): readonly unknown[] {
  if (field.fieldKind === "list") return value as readonly unknown[];
  if (field.fieldKind === "map") return Object.values(value as object);
  return [value];
}

/** The enums of a message's fields, by name, with the values that a body can contain. */
export function enumsOf(message: Message, above: readonly Message[] = []): readonly EnumValues[] {
  if (above.includes(message)) return [];
  return message.fields.flatMap((field) => {
    if (field.enum !== undefined) {
      const { typeName, values } = field.enum;
      return [[typeName, values.map(({ name }) => name)] as const];
    }
    const inner = messageOf(field);
    return inner === null ? [] : enumsOf(inner, [...above, message]);
  });
}
