/** The specification of a list: its table, and the columns by which it can be filtered and sorted. */

import type { Sight } from "@trainyard/access";
import { type Attribute, isAttribute } from "../views/attributes.ts";
import type { DocumentKind, Documents } from "../views/documents.ts";
import { indexedText } from "../views/text.ts";

export type FieldType = "text" | "number" | "time" | "boolean";

export type FieldValue = string | number | boolean | null | undefined;

/**
 * A function of a document. TypeScript compares the parameters of methods in both directions, so a list of one kind of
 * documents is also a list of any kind.
 */
type Of<Doc, Value> = { bivariant(doc: Doc): Value }["bivariant"];

export type ListField<Doc> = {
  /** The name of the field in filters: the API's name in snake case; for times without `_ms`. */
  readonly name: string;
  /** The column in the list's table; values written to it have this type. */
  readonly column: string;
  readonly type: FieldType;
  /** Returns the value of a document; null or undefined for none. Times are milliseconds since 1970. */
  readonly value: Of<Doc, FieldValue>;
  /** Whether comparisons ignore case; the rows then have the text in lower case. */
  readonly anyCase?: boolean;
  /** Whether the text is an owner or an actor, which people name by the user's current name. */
  readonly person?: boolean;
  /** Whether the text is the id of another experiment, which a caller may not see. */
  readonly experiment?: boolean;
  /** All possible values of a text field; absent if they are not fixed. */
  readonly values?: readonly string[];
};

/** The rows that a caller with a permission sees. */
export type ListSight = {
  readonly permission: Sight;
  /** Returns the condition on a row `r`. `workspaces` are their names in lower case, as SQL. */
  readonly in: (workspaces: string) => string;
};

export type ListSpec<Kind extends DocumentKind = DocumentKind> = {
  readonly kind: Kind;
  /** The list's table in the schema `gateway`. */
  readonly table: string;
  /** The plural of its documents' kind, for messages. */
  readonly plural: string;
  readonly newestFirst: boolean;
  /** The text field of the default order; absent if the default is the order of the ordinals. */
  readonly order?: string;
  /** Whether a document is in the list; absent if every document is. */
  readonly isListed?: Of<Documents[Kind], boolean>;
  /** The rows that a caller sees, by any of these; absent if everybody who may ask for the list sees all of them. */
  readonly sights?: readonly ListSight[];
  /** Returns the experiment or workspace whose list the document is in; empty for a list without a parent. */
  scope(doc: Documents[Kind], parent: string): string;
  readonly fields: readonly ListField<Documents[Kind]>[];
  /** Returns the labels of a document; null for a list without labels. */
  readonly labels: Of<Documents[Kind], readonly string[]> | null;
  /** Returns the texts in which the free words of a filter are searched. */
  readonly texts: Of<Documents[Kind], readonly string[]>;
  /** Returns the hyperparameters and metrics of a document; null for a list without them. */
  readonly attributes: Of<Documents[Kind], readonly Attribute[]> | null;
};

/** Returns a column of a row `r` as SQL: its value may depend on more than the row. */
export type ColumnSql = (column: string) => string;

/** The columns as rows have them. */
export const ownColumns: ColumnSql = (column) => `r.${column}`;

/** The meaning of a field name in a list: a column, or an attribute. */
export type NamedField =
  | { readonly kind: "column"; readonly field: ListField<never> }
  | { readonly kind: "attribute"; readonly name: string };

/** Resolves a field name. For an unknown name returns a sentence with the known fields. */
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
