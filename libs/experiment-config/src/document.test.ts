import { limits } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { readYaml } from "./document.ts";
import type { Json } from "./json.ts";
import { configLimits } from "./limits.ts";

const problems = (text: string): string[] =>
  readYaml(text).problems.map(({ path, detail }) => `${path}: ${detail}`);

function bomb(): string {
  const levels = Array.from({ length: 9 }, (_, i) => {
    const inner = Array.from({ length: 10 }, () => (i === 0 ? "x" : `*a${i - 1}`));
    return `a${i}: &a${i} [${inner.join(", ")}]`;
  });
  return levels.join("\n");
}

const refused: readonly (readonly [what: string, yaml: string, problem: RegExp])[] = [
  ["a syntax error, with its line", "a: 1\nb: [1,", /^: line 2, column 7: flow sequence/],
  ["every syntax error", "a: 'x\n", /line 2, column 1: missing closing 'quote/],
  ["a second document", "a: 1\n---\nb: 1", /line 2, column 1: a second document begins/],
  ["a duplicate key", "a: {b: 1, b: 2}", /^a\.b: is given twice/],
  ["an unknown tag", "a: !include x", /line 1, column 4: unresolved tag/],
  [
    "a type that JSON has not",
    "a: !!binary aGk=",
    /line 1, column 4: unresolved tag|^a: has a YAML type/,
  ],
  ["a key that is a list", "? [a]\n: 1", /a key must be text/],
  ["infinity", "a: [1, .inf]", /^a\[1\]: must be a finite number, not \.inf/],
  ["not a number", "a: .nan", /^a: must be a finite number, not \.nan/],
  ["a number too large for a double", "a: 1e400", /^a: must be a finite number, not 1e400/],
  ["an integer that no double holds", "a: 9007199254740993", /^a: is an integer beyond 2\^53 - 1/],
  ["NUL in a value", 'name: "a\\u0000b"', /^name: contains the character \\u0000/],
  ["NUL in a key", '"a\\0b": 1', /is a key that contains the character \\u0000/],
  ["half a surrogate pair", 'a: "\\uD83D"', /^a: contains half of a surrogate pair/],
  ["__proto__", "data: {__proto__: {x: 1}}", /^data\.__proto__: is not allowed as a key/],
  ["an alias of nothing", "a: *b", /^a: refers to the anchor "b", which nothing before it defines/],
  ["an alias of itself", "a: &a {b: *a}", /is nested more than 32 levels deep, or contains itself/],
  ["a merge of text", "a: {<<: x}", /^a\["<<"\]: can only merge a mapping/],
  ["an alias bomb", bomb(), /holds more than 60000 values once its aliases are expanded/],
  ["ninety thousand brackets", "[".repeat(90_000), /is nested more than 32 levels deep/],
  ["forty thousand dashes", "- ".repeat(40_000), /is nested more than 32 levels deep/],
  [
    "nesting by indentation",
    Array.from({ length: 40 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
    /is nested more than 32/,
  ],
  [
    "a document over the limit",
    `a: "${"x".repeat(limits.configBytesMax)}"`,
    /is \d+ bytes long; the limit is 98304/,
  ],
];

describe("readYaml refuses", () => {
  it.each(refused)("%s", (_, yaml, problem) => {
    expect(problems(yaml).join("\n")).toMatch(problem);
  });

  it("a document with several problems, and reports all of them", () => {
    expect(problems("a: .inf\nb: {c: 1, c: 2}\n__proto__: 1")).toHaveLength(3);
  });
});

describe("readYaml reads", () => {
  const value = (text: string): Json => readYaml(text).value;

  it("YAML 1.2: on and 1:30 are text, 1e-4 is a number", () => {
    expect(value("{a: on, b: 1:30, c: 1e-4, d: 0x1F, e: yes}")).toEqual({
      a: "on",
      b: "1:30",
      c: 1e-4,
      d: 31,
      e: "yes",
    });
  });

  it("anchors and merge keys, and the mapping's direct keys override merged ones", () => {
    const text =
      "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 0}\nw: {<<: *y}\nv: *x";
    expect(value(text)).toMatchObject({ z: { a: 0, b: 1, c: 2 }, w: { b: 2, c: 2 }, v: { a: 1 } });
  });

  it("an anchor that is defined again, with its latest value", () => {
    expect(value("a: &x 1\nb: *x\nc: &x 2\nd: *x")).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });

  it("numeric keys as text, and a quoted << as an ordinary key", () => {
    expect(value('1: a\n"<<": b')).toEqual({ "1": "a", "<<": "b" });
  });

  it("every JSON document", () => {
    const key = fc
      .string({ unit: "grapheme", maxLength: 8 })
      .filter((text) => text !== "__proto__" && text !== "<<");
    const json = fc.letrec<{ node: Json }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.constant(null),
        fc.boolean(),
        fc.integer(),
        fc
          .double({ noNaN: true, noDefaultInfinity: true })
          .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n)),
        fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\u0000")),
        fc.array(tie("node"), { maxLength: 4 }),
        fc.dictionary(
          key.filter((text) => !text.includes("\u0000")),
          tie("node"),
          { maxKeys: 4 },
        ),
      ),
    })).node;
    fc.assert(
      fc.property(json, (given) => {
        expect(value(JSON.stringify(given))).toEqual(JSON.parse(JSON.stringify(given)));
        expect(value(stringify(given, { compat: null }))).toEqual(
          JSON.parse(JSON.stringify(given)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it("any text without throwing", () => {
    const alphabet = fc.constantFrom(..."ab:-?[]{},&*<>|!'\"#%@\\ \n\t0.\u0000\ud800~");
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (characters) => {
        const result = readYaml(characters.join(""));
        expect(result.problems.length > 0 ? result.value : null).toBe(null);
      }),
      { numRuns: 1_000 },
    );
  });

  it("a document of the greatest allowed depth", () => {
    const { documentDepthMax } = configLimits;
    const text = `${"[".repeat(documentDepthMax)}${"]".repeat(documentDepthMax)}`;
    expect(problems(text)).toEqual([]);
  });
});
