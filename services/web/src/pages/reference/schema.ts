/** The parts of an OpenAPI or AsyncAPI document that both have. */

export type Schema = { readonly [key: string]: unknown };

/** A line of a table of fields. */
export type Field = {
  readonly name: string;
  /** The type as text, for example `list of Trial`. */
  readonly type: string;
  /** The message in the type, which has an entry of its own; null for none. */
  readonly message: string | null;
  readonly comment: string;
};

/** Returns the fields of an object. */
export function fieldsOf(schema: Schema | undefined): readonly Field[] {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  return Object.entries(properties).map(([name, property]) => fieldOf(name, property));
}

export function fieldOf(name: string, schema: Schema, comment?: string): Field {
  const values = valuesOf(schema);
  const told = comment ?? textOf(schema["description"]);
  const more = values.length === 0 ? "" : `One of ${values.join(", ")}.`;
  return {
    name,
    type: typeOf(schema),
    message: messageIn(schema),
    comment: [told, more].filter((part) => part !== "").join(" "),
  };
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** Returns the type of a schema as text. */
export function typeOf(schema: Schema): string {
  const { $ref, type, items, allOf, anyOf, additionalProperties: values } = schema;
  if (typeof $ref === "string") return nameOf($ref);
  const parts = (allOf ?? anyOf) as readonly Schema[] | undefined;
  // A number may also be NaN or infinite, which JSON has as text.
  if (parts !== undefined) return typeOf(parts[0] ?? {});
  if (type === "array") return `list of ${typeOf((items ?? {}) as Schema)}`;
  if (typeof values === "object") return `map of ${typeOf(values as Schema)}`;
  if ("contentEncoding" in schema) return "bytes";
  return textOf(type) || "any";
}

function messageIn(schema: Schema): string | null {
  const { $ref, items, allOf, additionalProperties: values } = schema;
  if (typeof $ref === "string") return nameOf($ref);
  const inner = items ?? (allOf as readonly Schema[] | undefined)?.[0] ?? values;
  return typeof inner === "object" && inner !== null ? messageIn(inner as Schema) : null;
}

function valuesOf(schema: Schema): readonly string[] {
  const { enum: values = [] } = (schema["items"] ?? schema) as Schema;
  return values as readonly string[];
}
