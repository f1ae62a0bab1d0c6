/** Translates a filter into a condition of SQL on a list's rows `r`. Every value is a parameter. */

import { indexedText, wordsOf } from "../views/text.ts";
import { type Comparison, type Filter, FilterError, type Operator, type Words } from "./filter.ts";
import { type ColumnSql, type ListField, type ListSpec, namedField } from "./list-spec.ts";
import type { SqlValues } from "./sql-values.ts";
import { readTime } from "./times.ts";

export type ConditionContext = {
  readonly list: ListSpec;
  /** The name of the table of attributes. */
  readonly attributes: string;
  /** The name of the table of users. */
  readonly users: string;
  readonly values: SqlValues;
  /** The time that relative times in the filter count from. */
  readonly nowMs: number;
  readonly columns: ColumnSql;
};

/** Translates a filter. Throws a FilterError that names an unknown field or an impossible comparison. */
export function conditionOf(filter: Filter, context: ConditionContext): string {
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${filter.of.map((one) => conditionOf(one, context)).join(` ${filter.kind} `)})`;
    case "not":
      // A comparison with an absent value is false, and its negation is true.
      return `((${conditionOf(filter.of, context)}) is not true)`;
    case "contains":
      return `strpos(r.${filter.field}, ${context.values.add(indexedText(filter.text), "text")}) > 0`;
    case "words":
      return wordsCondition(filter, context);
    case "comparison":
      return comparisonCondition(filter, context);
  }
}

function wordsCondition({ text, column }: Words, { values }: ConditionContext): string {
  const words = wordsOf([text]);
  if (words.length === 0) {
    const detail = `${JSON.stringify(text.slice(0, 60))} has no letter or digit to search for`;
    throw new FilterError(column, detail);
  }
  // Words have only letters and digits, so none can be an operator of tsquery.
  const query = words.map((word) => `'${word}':*`).join(" & ");
  return `r.words @@ ${values.add(query, "tsquery")}`;
}

function comparisonCondition(term: Comparison, context: ConditionContext): string {
  if (term.field === "label" && context.list.labels !== null) {
    return labelCondition(term, context.values);
  }
  const named = namedField(context.list, term.field);
  if (typeof named === "string") throw new FilterError(term.column, named);
  return named.kind === "attribute"
    ? attributeCondition(term, named.name, context)
    : fieldCondition(term, named.field, context);
}

function labelCondition(term: Comparison, values: SqlValues): string {
  const { operator } = term;
  if (operator !== "=" && operator !== "!=") throw cannot(term, "= and !=");
  const has = `r.labels @> array[${values.add(indexedText(term.value), "text")}]`;
  return operator === "=" ? has : `(not ${has})`;
}

function fieldCondition(
  term: Comparison,
  field: ListField<never>,
  { values, columns, users, nowMs }: ConditionContext,
): string {
  if (field.person === true && !isPresence(term)) {
    return personCondition(term, `r.${field.column}`, users, values);
  }
  const column = columns(field.column);
  if (isPresence(term)) return `${column} is not null`;
  const compared = (value: unknown, type: string): string =>
    `${column} ${signs[term.operator]} ${values.add(value, type)}`;
  switch (field.type) {
    case "text":
      return textCondition(term, field, column, values);
    case "boolean":
      if (term.operator !== "=" && term.operator !== "!=") throw cannot(term, "= and !=");
      if (term.value !== "true" && term.value !== "false") throw wrong(term, "true or false");
      return compared(term.value === "true", "boolean");
    case "number": {
      if (term.operator === ":") throw cannot(term, "= != < <= > >=");
      const number = numberOf(term) ?? raise(wrong(term, "a number"));
      // The index of ordinals supports comparisons with integers only.
      const isPlace = field.column === "ordinal" && Number.isSafeInteger(number);
      return isPlace ? compared(String(number), "bigint") : compared(number, "float8");
    }
    case "time":
      if (term.operator === ":") throw cannot(term, "= != < <= > >=");
      return compared(
        readTime(term.value, nowMs) ??
          raise(wrong(term, "a time, such as 2026-01-31, 2026-01-31T08:00Z or -7d")),
        "float8",
      );
  }
}

function textCondition(
  term: Comparison,
  { values: known, anyCase = false }: ListField<never>,
  column: string,
  values: SqlValues,
): string {
  const { operator } = term;
  const text = anyCase ? term.value.toLowerCase() : term.value;
  if (operator === ":") return beginsWith(column, text, values);
  if (operator !== "=" && operator !== "!=") throw cannot(term, "=, != and : (begins with)");
  const value = known === undefined ? text : term.value.toUpperCase();
  if (known !== undefined && !known.includes(value))
    throw wrong(term, `one of ${known.join(", ")}`);
  return `${column} ${signs[operator]} ${values.add(indexedText(value), "text")}`;
}

/**
 * A comparison with an owner or an actor by the current name of the user. A text that is no user's name is compared as
 * it is.
 */
function personCondition(
  { operator, value, ...term }: Comparison,
  column: string,
  users: string,
  values: SqlValues,
): string {
  const name = indexedText(value.toLowerCase());
  if (operator === ":") {
    const named = beginsWith("u.name_key", name, values);
    const others = `${beginsWith(column, value, values)} and ${column} not like 'user:%'`;
    return `(${others} or ${column} in (select 'user:' || u.id from ${users} u where ${named}))`;
  }
  if (operator !== "=" && operator !== "!=") {
    throw cannot({ ...term, operator, value }, "=, != and : (begins with)");
  }
  const found = `select 'user:' || u.id from ${users} u where u.name_key = ${values.add(name, "text")}`;
  const compared = `coalesce((${found}), ${values.add(indexedText(value), "text")})`;
  return `${column} ${signs[operator]} ${compared}`;
}

/** Returns the SQL of an owner or an actor as answers show it, for orders. */
export function namedColumn(column: string, users: string): string {
  const name = `select u.name from ${users} u where u.id = substr(${column}, ${"user:".length + 1})`;
  return `(case when ${column} like 'user:%' then coalesce((${name}), ${column}) else ${column} end collate "C")`;
}

/** Shown instead of the id of an experiment that is deleted or that the caller may not see. */
export const deletedExperiment = "deleted";

/** Returns the SQL of another experiment's id as answers show it to a caller who sees the experiments of workspaces. */
export function seenExperiment(column: string, table: string, workspaces: string): string {
  const seen = `select from ${table} o where o.scope = '' and o.id = ${column} and not o.deleted
    and o.workspace = any(${workspaces})`;
  return `(case when ${column} = '' or exists (${seen}) then ${column} else '${deletedExperiment}' end collate "C")`;
}

/**
 * A comparison with an attribute: a number is compared by value, a text by characters, and an unquoted text of digits
 * in both ways.
 */
function attributeCondition(
  term: Comparison,
  name: string,
  { list, attributes, values }: ConditionContext,
): string {
  const has = (condition: string): string =>
    `exists (select from ${attributes} a where a.kind = ${values.add(list.kind, "text")}
       and a.id = r.id and a.name = ${values.add(name, "text")} and ${condition})`;
  if (isPresence(term)) return has("true");
  const { operator } = term;
  if (operator === ":") return has(beginsWith("a.text", term.value, values));
  const number = term.quoted ? null : numberOf(term);
  const text = (): string => values.add(indexedText(term.value), "text");
  if (operator === "=") {
    const byText = `a.text = ${text()}`;
    return number === null
      ? has(byText)
      : `(${has(`a.number = ${values.add(number, "float8")}`)} or ${has(byText)})`;
  }
  if (operator === "!=") {
    const others = `a.text is distinct from ${text()}`;
    if (number === null) return has(others);
    return has(`${others} and a.number is distinct from ${values.add(number, "float8")}`);
  }
  if (number === null) throw wrong(term, "a number");
  return has(`a.number ${operator} ${values.add(number, "float8")}`);
}

/** Makes the condition "begins with" as a range, which an index supports. */
function beginsWith(column: string, text: string, values: SqlValues): string {
  const from = indexedText(text);
  const beyond = `${from}\u{10ffff}`;
  return `(${column} >= ${values.add(from, "text")} and ${column} < ${values.add(beyond, "text")})`;
}

const isPresence = ({ operator, value, quoted }: Comparison): boolean =>
  operator === ":" && value === "*" && !quoted;

const signs: Readonly<Record<Operator, string>> = {
  "=": "=",
  "!=": "is distinct from",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  ":": "=",
};

const numberPattern = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const infinityPattern = /^([+-]?)infinity$/i;

function numberOf({ value }: Comparison): number | null {
  const infinite = infinityPattern.exec(value);
  if (infinite !== null) {
    return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return numberPattern.test(value) ? Number(value) : null;
}

function cannot({ field, operator, column }: Comparison, operators: string): FilterError {
  return new FilterError(
    column,
    `${field} cannot be compared with ${operator}, but with ${operators}`,
  );
}

function wrong({ field, value, column }: Comparison, expected: string): FilterError {
  const shown = JSON.stringify(value.slice(0, 60));
  return new FilterError(column, `${field} is compared with ${shown}, which is not ${expected}`);
}

function raise(error: Error): never {
  throw error;
}
