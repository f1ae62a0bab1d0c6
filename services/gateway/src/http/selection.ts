/** Keeps, in each item of a list, the fields that the request asked for. */
import type { DescMessage } from "@bufbuild/protobuf";
import type { JsonObject } from "@trainyard/kernel";
import { isMapping } from "@trainyard/kernel";
import { isAttribute } from "../core/lists/attributes.ts";
import { Problem } from "./problem.ts";

/**
 * The answer with items that have these fields only; as it is without fields. A field goes by its name or its JSON
 * name. A hyperparameter or metric comes in the field `values`, beside all fields where no other is named. Throws a
 * Problem of 400 for a field that items do not have.
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
