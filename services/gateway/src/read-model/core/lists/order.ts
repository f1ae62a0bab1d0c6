/** The order of a list: `best_value desc`, `hparams.lr`; rows without the value come last. */
import { unquoted } from "../quoted.ts";
import { type FieldType, type ListSpec, namedField } from "./list-spec.ts";

export type ListOrder = {
  readonly descending: boolean;
  readonly by:
    | { readonly kind: "place" }
    | { readonly kind: "column"; readonly column: string; readonly type: FieldType }
    | { readonly kind: "attribute"; readonly name: string };
};

/** A part of a name with other characters than letters, digits and some signs, as in filters. */
const quotedPattern = /"(?:[^"\\]|\\.)*"/g;

/** The longest order: a metric's name of 1,024 bytes. The time of the expressions below grows with its square. */
const charactersMax = 1_200;

/** Parses an order. For an invalid text returns a sentence that names the problem. */
export function readOrder(list: ListSpec, text: string): ListOrder | string {
  if (text.trim() === "") return ownOrder(list);
  if (text.length > charactersMax) {
    return `the order has ${text.length} characters; the maximum is ${charactersMax}`;
  }
  const match = /^\s*(.*?)(?:\s+(asc|desc))?\s*$/is.exec(text);
  const [, raw = "", direction = "asc"] = match ?? [];
  const parts = raw.match(quotedPattern) ?? [];
  const invalid = parts.find((part) => unquoted(part) === null);
  if (invalid !== undefined) return `${invalid.slice(0, 60)} is not a JSON string`;
  if (/,\s*\w+(\s|$)/.test(raw.replaceAll(quotedPattern, "x"))) {
    return "a list is sorted by one field; rows with the same value are in the list's own order";
  }
  const name = raw.replaceAll(quotedPattern, (part) => unquoted(part) ?? part);
  const descending = direction.toLowerCase() === "desc";
  const named = namedField(list, name);
  if (typeof named === "string") return named;
  if (named.kind === "attribute") return { descending, by: named };
  const { column, type } = named.field;
  if (column === "ordinal") return { descending, by: { kind: "place" } };
  return { descending, by: { kind: "column", column, type } };
}

function ownOrder({ order, newestFirst }: ListSpec): ListOrder {
  if (order === undefined) return { descending: newestFirst, by: { kind: "place" } };
  return { descending: false, by: { kind: "column", column: order, type: "text" } };
}
