export type Schema = { readonly [key: string]: unknown };

/** Returns the type of a schema as a short text: `list of Trial`. Values of an enumeration are not in it. */
export function typeText(schema: Schema): string {
  const { type, items, allOf, anyOf, additionalProperties, $ref: ref } = schema;
  if (typeof ref === "string") return ref.slice(ref.lastIndexOf("/") + 1);
  if (Array.isArray(allOf)) return (allOf as readonly Schema[]).map(typeText).join(" and ");
  if (type === "array") return `list of ${typeText(items as Schema)}`;
  if (typeof additionalProperties === "object") {
    return `map of ${typeText(additionalProperties as Schema)}`;
  }
  // A number may also be NaN or infinite, in text.
  if (Array.isArray(anyOf)) return typeText((anyOf as readonly Schema[])[0] ?? {});
  if (type === "string" && "contentEncoding" in schema) return "bytes";
  return type === undefined ? "any" : String(type);
}
