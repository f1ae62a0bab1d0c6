/** JSON schemas of messages in proto JSON, from their descriptors and the comments of proto/. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Protocol } from "../events-page/protocol.ts";

export type Schema = { [key: string]: unknown };

/** Collects the schemas of messages that a document refers to. */
export class Schemas {
  readonly #protocol: Protocol;
  readonly #messages = new Map<
    string,
    { readonly message: DescMessage; readonly schema: Schema }
  >();

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  /** Returns a reference to the schema of a message, which becomes a part of the document. */
  ref(message: DescMessage): Schema {
    if (message.typeName === "google.protobuf.Struct") return { type: "object" };
    if (message.typeName === "google.protobuf.Value") return {};
    this.#add(message);
    return { $ref: `#/components/schemas/${message.name}` };
  }

  field(field: DescField): Schema {
    const schema = this.bare(field);
    const comment = this.comment(field);
    if (comment === "") return schema;
    // A reader of an older draft ignores what is beside a reference.
    const shape = "$ref" in schema ? { allOf: [schema] } : schema;
    return { description: comment, ...shape };
  }

  comment(field: DescField): string {
    const message = this.#protocol.messages.get(field.parent.typeName);
    return message?.fields.find(({ name }) => name === field.jsonName)?.comment ?? "";
  }

  /** Returns the schemas by name, in the order of their names. */
  all(): Readonly<Record<string, Schema>> {
    const schemas = [...this.#messages].map(([name, { schema }]) => [name, schema] as const);
    return Object.fromEntries(schemas.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(message: DescMessage): void {
    const known = this.#messages.get(message.name);
    if (known?.message.typeName === message.typeName) return;
    if (known !== undefined) {
      throw new Error(`${known.message.typeName} and ${message.typeName} have the same name`);
    }
    const schema: Schema = { type: "object" };
    this.#messages.set(message.name, { message, schema });
    const comment = this.#protocol.messages.get(message.typeName)?.comment ?? "";
    if (comment !== "") schema["description"] = comment;
    schema["properties"] = Object.fromEntries(
      message.fields.map((field) => [field.jsonName, this.field(field)]),
    );
  }

  /** Returns the schema of a field without its comment. */
  bare(field: DescField): Schema {
    if (field.fieldKind === "list") return { type: "array", items: this.#element(field) };
    if (field.fieldKind === "map") {
      return { type: "object", additionalProperties: this.#element(field) };
    }
    return this.#element(field);
  }

  #element(field: DescField): Schema {
    if (field.message !== undefined) return this.ref(field.message);
    if (field.enum !== undefined) {
      return { type: "string", enum: field.enum.values.map(({ name }) => name) };
    }
    return scalar(field.scalar);
  }
}

function scalar(type: ScalarType | undefined): Schema {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.UINT32:
      return { type: "integer", minimum: 0, maximum: 4_294_967_295 };
    case ScalarType.INT32:
      return { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 };
    default:
      return { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
  }
}
