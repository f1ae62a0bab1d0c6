/** Plain JSON, with mutable array types so that it fits a protobuf Struct. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** Returns whether a value is a JSON object: neither null nor a list. */
export function isMapping(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
