/**
 * Evaluates an expression at a point; every expression has a value. Arithmetic with values of other kinds, and anything
 * that depends on a missing hyperparameter, is unknown, unless the other side decides `and` or `or` (Kleene's
 * three-valued logic). `math.ts` computes powers and logarithms, so results have the same bits on every machine.
 */
import {
  type ArithmeticOperator,
  type ComparisonOperator,
  type Expression,
  type ExpressionFunction,
  isSameValue,
  type Json,
  type JsonObject,
} from "@trainyard/experiment-config";
import { assertNever } from "@trainyard/kernel";
import { exp, integerPower, log, power, roundHalfAway } from "../../numeric/math.ts";
import { valueAtKeys } from "./conditions.ts";

/** A JSON value; undefined means unknown. */
type Value = Json | undefined;
export type Evaluation = (point: JsonObject) => Value;

export function evaluation(expression: Expression): Evaluation {
  switch (expression.kind) {
    case "literal": {
      const { value } = expression;
      return () => value;
    }
    case "name": {
      const { keys } = expression;
      return (point) => valueAtKeys(point, keys);
    }
    case "list":
      return listOf(expression.items.map(evaluation));
    case "negative": {
      const operand = evaluation(expression.operand);
      return (point) => ofNumbers([operand(point)], ([x = 0]) => -x);
    }
    case "not": {
      const operand = evaluation(expression.operand);
      return (point) => {
        const value = operand(point);
        return typeof value === "boolean" ? !value : undefined;
      };
    }
    case "arithmetic": {
      const { operator } = expression;
      const [left, right] = [evaluation(expression.left), evaluation(expression.right)];
      return (point) =>
        ofNumbers([left(point), right(point)], ([a = 0, b = 0]) => calculated(operator, a, b));
    }
    case "call": {
      const { name } = expression;
      const operands = expression.operands.map(evaluation);
      return (point) =>
        ofNumbers(
          operands.map((operand) => operand(point)),
          (numbers) => called(name, numbers),
        );
    }
    case "logic":
      return logicOf(expression.operator, expression.operands.map(evaluation));
    case "comparison":
      return chainOf(expression.operators, expression.operands.map(evaluation));
    default:
      return assertNever(expression, "an expression");
  }
}

function ofNumbers(
  values: readonly Value[],
  make: (numbers: readonly number[]) => number,
): number | undefined {
  const numbers: number[] = [];
  for (const value of values) {
    if (typeof value !== "number") return undefined;
    numbers.push(value);
  }
  return make(numbers);
}

function listOf(items: readonly Evaluation[]): Evaluation {
  return (point) => {
    const list: Json[] = [];
    for (const item of items) {
      const value = item(point);
      if (value === undefined) return undefined;
      list.push(value);
    }
    return list;
  };
}

function logicOf(operator: "and" | "or", operands: readonly Evaluation[]): Evaluation {
  const settles = operator === "or";
  return (point) => {
    let known = true;
    for (const operand of operands) {
      const value = operand(point);
      if (value === settles) return settles;
      if (typeof value !== "boolean") known = false;
    }
    return known ? !settles : undefined;
  };
}

function chainOf(
  operators: readonly ComparisonOperator[],
  operands: readonly Evaluation[],
): Evaluation {
  return (point) => {
    const values = operands.map((operand) => operand(point));
    let known = true;
    for (const [index, operator] of operators.entries()) {
      const holds = compared(operator, values[index], values[index + 1]);
      if (holds === false) return false;
      if (holds === undefined) known = false;
    }
    return known ? true : undefined;
  };
}

function compared(operator: ComparisonOperator, a: Value, b: Value): boolean | undefined {
  if (a === undefined || b === undefined) return undefined;
  switch (operator) {
    case "==":
      return isSameValue(a, b);
    case "!=":
      return !isSameValue(a, b);
    case "in":
    case "not in": {
      if (!Array.isArray(b)) return undefined;
      const within = b.some((item) => isSameValue(item, a));
      return operator === "in" ? within : !within;
    }
    default:
      break;
  }
  if (typeof a !== "number" || typeof b !== "number") return undefined;
  if (operator === "<") return a < b;
  if (operator === "<=") return a <= b;
  return operator === ">" ? a > b : a >= b;
}

function calculated(operator: ArithmeticOperator, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%": {
      // The remainder has the divisor's sign, as in Python.
      const rest = a % b;
      return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
    }
    case "**":
      return raised(a, b);
    default:
      return assertNever(operator, "an operator");
  }
}

function raised(base: number, exponent: number): number {
  if (!Number.isFinite(base) || !Number.isFinite(exponent)) return Number.NaN;
  if (Number.isInteger(exponent)) return integerPower(base, exponent);
  if (base > 0) return power(base, exponent);
  if (base < 0) return Number.NaN;
  return exponent > 0 ? 0 : Number.POSITIVE_INFINITY;
}

/** Beyond these exponents, the power of e is infinite, or 0. */
const EXPONENT_MAX = 750;

function called(name: ExpressionFunction, numbers: readonly number[]): number {
  const [x = 0] = numbers;
  switch (name) {
    case "abs":
      return Math.abs(x);
    case "ceil":
      return Math.ceil(x);
    case "floor":
      return Math.floor(x);
    case "max":
      return Math.max(...numbers);
    case "min":
      return Math.min(...numbers);
    case "round":
      return roundHalfAway(x);
    case "sqrt":
      return Math.sqrt(x);
    case "exp":
      if (Math.abs(x) > EXPONENT_MAX) return x > 0 ? Number.POSITIVE_INFINITY : 0;
      return Number.isNaN(x) ? x : exp(x);
    case "log":
      if (x > 0) return Number.isFinite(x) ? log(x) : x;
      return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
    default:
      return assertNever(name, "a function");
  }
}
