/** Reduces each item of a list to the fields that the request asked for. */
import type { DescMessage } from "@bufbuild/protobuf";
import type { JsonObject } from "@trainyard/kernel";
import { isMapping } from "@trainyard/kernel";
import { isAttribute } from "../read-model/core/views/attributes.ts";
import { Problem } from "./problem.ts";

/**
 * Returns the answer with only the requested fields in its items; unchanged without a request for fields. A field has
 * its name or its JSON name. Hyperparameters and metrics are in the field `values`; if nothing else is requested, all
 * other fields stay. Throws a Problem of 400 for an unknown field.
 */
export function selectFields(
  reply: DescMessage,
  json: JsonObject,
  fields: readonly string[],
): JsonObject {
  const item = reply.fields.find(({ name }) => name === "items")?.message;
  const { items } = json;
  if (item === undefined || !Array.isArray(items) || fields.every(isAttribute)) return json;
  const wanted = new Set(fields.map((field) => jsonNameOf(item, field)));
  const selected = items.map((one) =>
    isMapping(one)
      ? Object.fromEntries(Object.entries(one).filter(([key]) => wanted.has(key)))
      : one,
  );
  return { ...json, items: selected };
}

function jsonNameOf({ fields }: DescMessage, asked: string): string {
  const name = isAttribute(asked) ? "values" : asked;
  const found = fields.find((field) => field.name === name || field.jsonName === name);
  if (found !== undefined) return found.jsonName;
  const known = fields.map((field) => field.name).join(", ");
  const shown = JSON.stringify(asked.slice(0, 60));
  throw new Problem(
    400,
    "invalid_request",
    `items have no field ${shown}; the fields are ${known}`,
  );
}
