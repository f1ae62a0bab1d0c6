import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { conditionOf } from "./conditions.ts";
import { type Filter, FilterError, readFilter } from "./filter.ts";
import { type ListSpec, ownColumns } from "./list-spec.ts";
import { experimentList, modelList } from "./lists.ts";
import { readOrder } from "./order.ts";
import { SqlValues } from "./sql-values.ts";
import { readTime } from "./times.ts";

/** Returns the filter with explicit brackets. */
function shape(filter: Filter | null): string {
  if (filter === null) return "everything";
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${filter.of.map(shape).join(` ${filter.kind} `)})`;
    case "not":
      return `not ${shape(filter.of)}`;
    case "words":
      return `[${filter.text}]`;
    case "contains":
      return "contains";
    case "comparison":
      return `${filter.field} ${filter.operator} ${JSON.stringify(filter.value)}`;
  }
}

test.each([
  ["", "everything"],
  ["  \n", "everything"],
  ["state = ERROR", 'state = "ERROR"'],
  ["state=ERROR", 'state = "ERROR"'],
  ["a = 1 or b = 2 and c = 3", '(a = "1" or (b = "2" and c = "3"))'],
  ["(a = 1 or b = 2) c = 3", '((a = "1" or b = "2") and c = "3")'],
  ["not a = 1 AND NOT (b = 2)", '(not a = "1" and not b = "2")'],
  ["resnet large", "([resnet] and [large])"],
  ['"resnet or" x', "([resnet or] and [x])"],
  ["order = 1", 'order = "1"'],
  ["or = 1", 'or = "1"'],
  ['metrics."top 1" >= 0.9', 'metrics.top 1 >= "0.9"'],
  ['hparams.a."b\\"c".d != "x y"', 'hparams.a.b"c.d != "x y"'],
  ["created_at > 2026-01-31T08:00:00Z", 'created_at > "2026-01-31T08:00:00Z"'],
  ["created_at>-7d", 'created_at > "-7d"'],
  ["best_value:*", 'best_value : "*"'],
  ['name = ""', 'name = ""'],
])("the filter %j means %s", (text, meaning) => {
  expect(shape(readFilter(text))).toBe(meaning);
});

test.each([
  ["state =", 'filter, column 8: a value is missing behind state =; an empty text is ""'],
  ["(a = 1", 'filter, column 1: this "(" is not closed'],
  ["a = 1)", 'filter, column 6: ")" follows where the filter should end'],
  ["a = 1 or", "filter, column 9: a condition is missing"],
  ["= 3", 'filter, column 1: "= 3" is neither a field nor a word'],
  ['name = "open', 'filter, column 8: a value is missing behind name =; an empty text is ""'],
  ['name = "\\x"', 'filter, column 8: "\\"\\\\x\\"" is not a JSON string'],
  ["not ".repeat(30) + "a", "filter, column 84: the filter nests deeper than 20 levels"],
])("the filter %j is refused at its column", (text, sentence) => {
  expect(() => readFilter(text)).toThrow(sentence);
});

const lists: readonly ListSpec[] = [experimentList, modelList] as never;

function conditionIn(list: ListSpec, text: string): { sql: string; values: unknown[] } {
  const filter = readFilter(text);
  const values = new SqlValues();
  const tables = { attributes: "attributes", users: "users" };
  const context = { list, ...tables, values, nowMs: 0, columns: ownColumns };
  const sql = filter === null ? "true" : conditionOf(filter, context);
  return { sql, values: values.list() };
}

describe("the conditions of a filter", () => {
  it.each([
    ["stat = ERROR", /column 1: experiments have no field "stat"; the fields are id, name, state,/],
    ["state = RUNNING", /column 1: state is compared with "RUNNING", which is not one of ACTIVE,/],
    ["x y best_value > abc", /column 5: best_value is compared with "abc", which is not a number/],
    [
      "created_at > yesterday",
      /column 1: created_at is compared with "yesterday", which is not a time/,
    ],
    ["archived > true", /archived cannot be compared with >, but with = and !=/],
    ["label < x", /label cannot be compared with <, but with = and !=/],
    ["name > x", /name cannot be compared with >, but with =, != and : \(begins with\)/],
    ["hparams.lr < fast", /hparams.lr is compared with "fast", which is not a number/],
    ["--- or x", /column 1: "---" has no letter or digit to search for/],
    ["hparams = 1", /experiments have no field "hparams"/],
  ])("of %j are refused in a sentence", (text, sentence) => {
    expect(() => conditionIn(lists[0] as ListSpec, text)).toThrow(sentence);
  });

  it("have every value as a parameter, whatever it contains", () => {
    const evil = "'; drop table gateway.documents; --";
    const { sql, values } = conditionIn(
      lists[0] as ListSpec,
      `name = ${JSON.stringify(evil)} or hparams.${JSON.stringify(evil)} = ${JSON.stringify(evil)} or label = ${JSON.stringify(evil)} or ${JSON.stringify(evil)}`,
    );
    expect(sql).not.toContain("drop");
    expect(values).toContain(evil);
    expect(values).toContain("'drop':* & 'table':* & 'gateway':* & 'documents':*");
  });

  it("of a model list do not know hyperparameters", () => {
    expect(() => conditionIn(lists[1] as ListSpec, "hparams.lr = 1")).toThrow(
      "models have no field",
    );
  });
});

test("any text is a valid filter or is refused in a sentence", () => {
  const word = fc.constantFrom(
    ...'state = != < > <= : ( ) and or not ERROR name hparams.lr " \\ * -7d 1e9 label archived true \0 \ud800'.split(
      " ",
    ),
  );
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(word, { maxLength: 12 }).map((words) => words.join(" ")),
  );
  fc.assert(
    fc.property(text, (given) => {
      try {
        const { values } = conditionIn(lists[0] as ListSpec, given);
        for (const value of values) expect(String(value)).not.toContain("\0");
      } catch (error) {
        expect(error).toBeInstanceOf(FilterError);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("an integer id is compared by the indexed ordinal, and a fraction without the index", () => {
  const [list] = lists as readonly [ListSpec];
  expect(conditionIn(list, "id = 5")).toEqual({ sql: "r.ordinal = $1::bigint", values: ["5"] });
  expect(conditionIn(list, "id < 5.5")).toEqual({ sql: "r.ordinal < $1::float8", values: [5.5] });
});

test.each([
  ["2026-01-31", Date.UTC(2026, 0, 31)],
  ["2026-01-31T08:30", Date.UTC(2026, 0, 31, 8, 30)],
  ["2026-01-31T08:30:01.5+02:00", Date.UTC(2026, 0, 31, 6, 30, 1, 500)],
  ["-7d", 1_000_000_000 - 7 * 86_400_000],
  ["+90m", 1_000_000_000 + 90 * 60_000],
  ["2026-13-01", null],
  ["now", null],
  ["7d", null],
])("the time %s is read", (text, ms) => {
  expect(readTime(text, 1_000_000_000)).toBe(ms);
});

test.each([
  ["", { descending: true, by: { kind: "place" } }],
  ["id", { descending: false, by: { kind: "place" } }],
  [
    "best_value desc",
    { descending: true, by: { kind: "column", column: "best_value", type: "number" } },
  ],
  ["hparams.lr", { descending: false, by: { kind: "attribute", name: "hparams.lr" } }],
  ['metrics."top 1" DESC', { descending: true, by: { kind: "attribute", name: "metrics.top 1" } }],
  [
    String.raw`metrics."a\"b"`,
    { descending: false, by: { kind: "attribute", name: 'metrics.a"b' } },
  ],
  ['metrics."a, b" desc', { descending: true, by: { kind: "attribute", name: "metrics.a, b" } }],
  [
    String.raw`metrics."\u00e9"`,
    { descending: false, by: { kind: "attribute", name: "metrics.é" } },
  ],
])("the order %j is read", (text, order) => {
  expect(readOrder(lists[0] as ListSpec, text)).toEqual(order);
});

test("an order by two fields or by an unknown field is refused in a sentence", () => {
  expect(readOrder(lists[0] as ListSpec, "name, state")).toMatch("a list is sorted by one field");
  expect(readOrder(lists[0] as ListSpec, 'metrics."a", name')).toMatch("sorted by one field");
  expect(readOrder(lists[0] as ListSpec, String.raw`metrics."\q"`)).toBe(
    String.raw`"\q" is not a JSON string`,
  );
  expect(readOrder(lists[0] as ListSpec, "naem")).toMatch('experiments have no field "naem"');
});

test.each(["a", " ", '\\"', ", "])("an order of %j many times is refused by its length", (part) => {
  const order = `"${part.repeat(1_200)}b`;
  expect(readOrder(lists[0] as ListSpec, order)).toBe(
    `the order has ${order.length} characters; the maximum is 1200`,
  );
});
