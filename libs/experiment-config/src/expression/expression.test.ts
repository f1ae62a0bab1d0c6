import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Expression, parseExpression } from "./expression.ts";
import { ExpressionError } from "./tokens.ts";

/** Formats an expression with explicit brackets, as the parser grouped it. */
function bracketed(expression: Expression): string {
  switch (expression.kind) {
    case "literal":
      return JSON.stringify(expression.value);
    case "name":
      return expression.keys.join(".");
    case "list":
      return `[${expression.items.map(bracketed).join(", ")}]`;
    case "negative":
      return `(-${bracketed(expression.operand)})`;
    case "not":
      return `(not ${bracketed(expression.operand)})`;
    case "arithmetic":
      return `(${bracketed(expression.left)} ${expression.operator} ${bracketed(expression.right)})`;
    case "call":
      return `${expression.name}(${expression.operands.map(bracketed).join(", ")})`;
    case "logic":
      return `(${expression.operands.map(bracketed).join(` ${expression.operator} `)})`;
    default: {
      const [first, ...rest] = expression.operands.map(bracketed);
      const chain = rest.map((operand, i) => `${expression.operators[i] ?? ""} ${operand}`);
      return `(${[first, ...chain].join(" ")})`;
    }
  }
}

describe("an expression", () => {
  it.each([
    ["batch_size * accumulation <= 512", "((batch_size * accumulation) <= 512)"],
    ["min_lr < max_lr", "(min_lr < max_lr)"],
    ["a + b * c - d / 2", "((a + (b * c)) - (d / 2))"],
    ["a // 2 % 3", "((a // 2) % 3)"],
    ["-a ** 2 ** -b", "(-(a ** (2 ** (-b))))"],
    ["not a < 1 and b or c", "(((not (a < 1)) and b) or c)"],
    ["!(a && b) || c == 'x'", '((not (a and b)) or (c == "x"))'],
    ["0 < a <= b != 3", "(0 < a <= b != 3)"],
    ["optimizer.name in ['sgd', \"adam\"]", '(optimizer.name in ["sgd", "adam"])'],
    ["a not in [1, 2.5e-3, -.5,]".replace(",]", "]"), "(a not in [1, 0.0025, (-0.5)])"],
    ["`learning-rate`.`a.b` >= 1e-4", "(learning-rate.a.b >= 0.0001)"],
    ["max(a, abs(b), 3) == None", "(max(a, abs(b), 3) == null)"],
    ["True != false", "(true != false)"],
    ["a.in == 1", "(a.in == 1)"],
  ])("reads %s", (text, read) => {
    expect(bracketed(parseExpression(text))).toBe(read);
  });

  it.each([
    ["", 1, "is empty"],
    ["a <", 4, "ends where a value is expected"],
    ["a = 2", 3, 'has "=" where only "==" compares'],
    ["(a < 2", 7, "ends where the bracket of column 1 should close"],
    ["a < 2)", 6, 'has ")" where it should have ended'],
    ["a ? 2", 3, 'has "?", which means nothing here'],
    ["a == 'x", 6, "has a ' that is not closed"],
    ["sin(a) < 2", 1, "calls sin, which is not one of the functions"],
    ["min() < 2", 1, "gives min 0 values; it takes at least one value"],
    ["a. < 2", 4, "has no name after the dot"],
    ["a b", 3, 'has "b" where it should have ended'],
    ["and a", 1, 'has "and" where a value is expected'],
    [`${"(".repeat(60)}a`, 51, "is nested more than 50 deep"],
    [`${"-".repeat(60)}a`, 51, "is nested more than 50 deep"],
    ["a".repeat(2_001), 2_001, "is longer than 2000 characters"],
  ])("refuses %s", (text, column, message) => {
    let thrown: unknown;
    try {
      parseExpression(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ExpressionError);
    expect([(thrown as ExpressionError).column, (thrown as ExpressionError).message]).toEqual([
      column,
      expect.stringContaining(message),
    ]);
  });

  it("of any text is parsed, or refused with a column", () => {
    const piece = fc.constantFrom(
      ..."a b.c 1 .5 'x' ( ) [ ] , . + - * / // % ** < <= == != in not and or ! min ` ' &&".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join(" ");
        try {
          parseExpression(text);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
          expect((error as ExpressionError).column).toBeLessThanOrEqual(text.length + 1);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
