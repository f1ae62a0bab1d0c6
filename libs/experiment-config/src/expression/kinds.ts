/**
 * The kinds of an expression's value: number, text, boolean, or another one. This finds expressions that can never be
 * evaluated, such as twice an optimizer's name, at submission.
 */
import type { Expression } from "./expression.ts";
import { ExpressionError } from "./tokens.ts";

export type ValueKind = "number" | "text" | "truth" | "null" | "other";
type Kinds = ReadonlySet<ValueKind>;

const said: Readonly<Record<ValueKind, string>> = {
  number: "a number",
  text: "a text",
  truth: "true or false",
  null: "null",
  other: "a list",
};

export function kindOfValue(value: unknown): ValueKind {
  if (value === null) return "null";
  switch (typeof value) {
    case "number":
      return "number";
    case "string":
      return "text";
    case "boolean":
      return "truth";
    default:
      return "other";
  }
}

/** Returns the possible kinds of the expression's value; throws an `ExpressionError` if there are none. */
export function kindsOf(
  expression: Expression,
  kindsOfName: (keys: readonly string[], column: number) => Kinds,
): Kinds {
  const need = (operand: Expression, kind: ValueKind, what: string): void => {
    const kinds = kindsOf(operand, kindsOfName);
    if (kinds.has(kind)) return;
    const is = [...kinds].map((one) => said[one]).join(" or ");
    throw new ExpressionError(operand.column, `has ${is} where ${what} takes ${said[kind]}`);
  };
  switch (expression.kind) {
    case "literal":
      return new Set([kindOfValue(expression.value)]);
    case "name":
      return kindsOfName(expression.keys, expression.column);
    case "list":
      for (const item of expression.items) kindsOf(item, kindsOfName);
      return new Set(["other"]);
    case "negative":
      need(expression.operand, "number", "a sign");
      return new Set(["number"]);
    case "arithmetic":
      need(expression.left, "number", `"${expression.operator}"`);
      need(expression.right, "number", `"${expression.operator}"`);
      return new Set(["number"]);
    case "call":
      for (const operand of expression.operands) need(operand, "number", expression.name);
      return new Set(["number"]);
    case "not":
      need(expression.operand, "truth", '"not"');
      return new Set(["truth"]);
    case "logic":
      for (const operand of expression.operands) need(operand, "truth", `"${expression.operator}"`);
      return new Set(["truth"]);
    case "comparison":
      for (const [index, operator] of expression.operators.entries()) {
        const left = expression.operands[index];
        const right = expression.operands[index + 1];
        if (left === undefined || right === undefined) continue;
        if (operator === "in" || operator === "not in") {
          kindsOf(left, kindsOfName);
          need(right, "other", `"${operator}"`);
        } else if (operator === "==" || operator === "!=") {
          kindsOf(left, kindsOfName);
          kindsOf(right, kindsOfName);
        } else {
          need(left, "number", `"${operator}"`);
          need(right, "number", `"${operator}"`);
        }
      }
      return new Set(["truth"]);
  }
}
