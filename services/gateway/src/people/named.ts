/**
 * Shows persons by their current names: answers are made of events and documents, which have `user:<id>`. Which fields
 * have persons is decided by their names here, so a new message needs no code. Events in answers keep the ids.
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** The texts that are an owner or an actor. */
const personFields: ReadonlySet<string> = new Set([
  "owner",
  "by",
  "created_by",
  "holder",
  "registered_by",
  "uploaded_by",
]);

/** The texts with sentences, which may name an actor. */
const sentenceFields: ReadonlySet<string> = new Set(["reason", "kept_by", "waits"]);

type Names = { nameOf(authid: string): string };
type Edit = (value: unknown) => unknown;
type Row = Readonly<Record<string, unknown>>;

export class Named {
  readonly #names: Names;
  /** The edits of the properties of messages. */
  readonly #edits = new Map<DescMessage, ReadonlyMap<string, Edit>>();

  constructor(names: Names) {
    this.#names = names;
  }

  /** Returns the message with the names of persons. A message without persons is returned as it is. */
  of<Message extends object>(descriptor: DescMessage, message: Message): Message {
    const before = message as Row;
    let named: Record<string, unknown> | null = null;
    for (const [property, edit] of this.#editsOf(descriptor)) {
      const value = before[property];
      if (value === undefined) continue;
      const edited = edit(value);
      if (edited === value) continue;
      named ??= { ...before };
      named[property] = edited;
    }
    return (named ?? message) as Message;
  }

  #editsOf(descriptor: DescMessage): ReadonlyMap<string, Edit> {
    const found = this.#edits.get(descriptor);
    if (found !== undefined) return found;
    const edits = new Map<string, Edit>();
    for (const field of descriptor.fields) {
      const edit = this.#editOf(field);
      if (edit === null) continue;
      const { localName: name, oneof } = field;
      if (oneof === undefined || oneof.fields.length === 1) edits.set(name, edit);
      else edits.set(oneof.localName, inChoice(name, edit, edits.get(oneof.localName)));
    }
    this.#edits.set(descriptor, edits);
    return edits;
  }

  #editOf(field: DescField): Edit | null {
    if (field.fieldKind === "map" || field.fieldKind === "enum") return null;
    const edit = this.#editOfValue(field);
    return edit !== null && field.fieldKind === "list" ? inList(edit) : edit;
  }

  #editOfValue({ name, message }: DescField): Edit | null {
    if (message !== undefined) {
      if (!hasPersons(message, new Set())) return null;
      return (value) => this.of(message, value as object);
    }
    const names = this.#names;
    if (personFields.has(name)) return (value) => names.nameOf(value as string);
    if (!sentenceFields.has(name)) return null;
    return (value) => namedSentence(names, value as string);
  }
}

/** Returns a sentence with the names of the persons in it. */
export function namedSentence(names: Names, text: string): string {
  return text.includes("user:")
    ? text.replaceAll(/\buser:[A-Za-z0-9._-]*[A-Za-z0-9]/g, (authid) => names.nameOf(authid))
    : text;
}

const inList =
  (edit: Edit): Edit =>
  (value) => {
    const items = value as readonly unknown[];
    const edited = items.map((item) => edit(item));
    return edited.some((item, index) => item !== items[index]) ? edited : items;
  };

/** Edits a field that excludes others, whose value names its case. */
const inChoice =
  (field: string, edit: Edit, others: Edit | undefined): Edit =>
  (value) => {
    const chosen = value as { readonly case: string | undefined; readonly value?: unknown };
    if (chosen.case !== field) return others === undefined ? value : others(value);
    const edited = edit(chosen.value);
    return edited === chosen.value ? value : { case: field, value: edited };
  };

/** Whether a message or one in it has a person. Messages may contain themselves. */
function hasPersons(descriptor: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(descriptor) || descriptor.typeName.startsWith("google.protobuf.")) return false;
  seen.add(descriptor);
  return descriptor.fields.some(
    (field) =>
      personFields.has(field.name) ||
      sentenceFields.has(field.name) ||
      (field.fieldKind !== "map" && field.message !== undefined && hasPersons(field.message, seen)),
  );
}
