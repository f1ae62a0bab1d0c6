/** Functions that visit the names and comparisons of an expression. */
import type { Expression } from "./expression.ts";

/** Calls `see` for every hyperparameter in an expression. */
export function eachName(
  expression: Expression,
  see: (keys: readonly string[], column: number) => void,
): void {
  if (expression.kind === "name") see(expression.keys, expression.column);
  else for (const part of partsOf(expression)) eachName(part, see);
}

type See = (
  keys: readonly string[],
  value: number | string | boolean | null,
  column: number,
) => void;

/** Calls `see` for every value that a hyperparameter is compared with by `==`, `!=` or `in`. */
export function eachComparedValue(expression: Expression, see: See): void {
  if (expression.kind === "comparison") {
    for (const [index, operator] of expression.operators.entries()) {
      const [left, right] = [expression.operands[index], expression.operands[index + 1]];
      if (left === undefined || right === undefined) continue;
      if (operator === "==" || operator === "!=") {
        compared(left, [right], see);
        compared(right, [left], see);
      } else if ((operator === "in" || operator === "not in") && right.kind === "list") {
        compared(left, right.items, see);
      }
    }
  }
  for (const part of partsOf(expression)) eachComparedValue(part, see);
}

function compared(name: Expression, values: readonly Expression[], see: See): void {
  if (name.kind !== "name") return;
  for (const value of values) {
    if (value.kind === "literal") see(name.keys, value.value, value.column);
  }
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "literal":
    case "name":
      return [];
    case "negative":
    case "not":
      return [expression.operand];
    case "arithmetic":
      return [expression.left, expression.right];
    case "list":
      return expression.items;
    default:
      return expression.operands;
  }
}
