/** The columns by which a list can be filtered and sorted, and their tables. */
import type { DocumentKind, Documents } from "../views/documents.ts";
import { type Attribute, isAttribute } from "./attributes.ts";
import { indexedText } from "./text.ts";

export type FieldType = "text" | "number" | "time" | "boolean";

export type FieldValue = string | number | boolean | null | undefined;

export type ListField<Doc> = {
  /** The field as filters spell it: the name of the API's field in snake case; times without their `_ms`. */
  readonly name: string;
  /** The column in the list's table; values written to it have this type. */
  readonly column: string;
  readonly type: FieldType;
  /** Null or absent for none. Times are milliseconds since 1970. */
  readonly value: (doc: Doc) => FieldValue;
  /** Found in any case: the rows have it in lower case. */
  readonly anyCase?: boolean;
  /** All that a text may be, where that is known. */
  readonly values?: readonly string[];
};

export type ListSpec<Kind extends DocumentKind = DocumentKind> = {
  readonly kind: Kind;
  /** Its table in the schema `gateway`. */
  readonly table: string;
  /** The plural under which people know its rows. */
  readonly plural: string;
  readonly newestFirst: boolean;
  /** The field of text that it is sorted by where no order is asked for; absent for the place of its rows. */
  readonly order?: string;
  /** Whether a document is in the list now; absent where every document is. */
  readonly isListed?: (doc: Documents[Kind]) => boolean;
  /** The experiment or workspace whose list it is in; empty where there is one list for all. */
  readonly scope: (doc: Documents[Kind], parent: string) => string;
  readonly fields: readonly ListField<Documents[Kind]>[];
  /** Null for a list without labels. */
  readonly labels: ((doc: Documents[Kind]) => readonly string[]) | null;
  /** The columns that free words of a filter are looked for in. */
  readonly texts: (doc: Documents[Kind]) => readonly string[];
  /** Null for a list without hyperparameters and metrics. */
  readonly attributes: ((doc: Documents[Kind]) => readonly Attribute[]) | null;
};

/** The meaning of a name in a list: a column, or an attribute by its name. */
export type NamedField =
  | { readonly kind: "column"; readonly field: ListField<never> }
  | { readonly kind: "attribute"; readonly name: string };

/** The sentence says that the list has no such field, and which it has. */
export function namedField(list: ListSpec, name: string): NamedField | string {
  const field = list.fields.find((one) => one.name === name);
  if (field !== undefined) return { kind: "column", field };
  const hasAttributes = list.attributes !== null;
  if (hasAttributes && isAttribute(name)) {
    return { kind: "attribute", name: indexedText(name) };
  }
  const known = [
    ...list.fields.map((one) => one.name),
    ...(list.labels === null ? [] : ["label"]),
    ...(hasAttributes ? ["hparams.NAME", "metrics.NAME"] : []),
  ].join(", ");
  const shown = JSON.stringify(name.slice(0, 60));
  return `${list.plural} have no field ${shown}; the fields are ${known}`;
}
