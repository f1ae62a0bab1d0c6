/** Checks that a search's constraints can be parsed and name existing hyperparameters. */
import type { FieldProblem } from "@trainyard/kernel";
import { isSameValue } from "../hyperparameters/conditions.ts";
import type {
  HyperparameterSpace,
  TypedHyperparameter,
} from "../hyperparameters/hyperparameters.ts";
import { type Expression, parseExpression } from "../expression/expression.ts";
import { kindOfValue, kindsOf, type ValueKind } from "../expression/kinds.ts";
import { ExpressionError } from "../expression/tokens.ts";
import { eachComparedValue, eachName } from "../expression/walks.ts";
import { itemPath, type Json } from "../json.ts";
import { isTyped, type SpaceNode } from "../hyperparameters/space.ts";
import { closest } from "../suggest.ts";

/**
 * A limit for all constraints together: they are evaluated at thousands of points, at submission and during the search.
 */
const CHARS_MAX = 4_000;

export function constraintProblems(
  constraints: readonly string[],
  space: HyperparameterSpace,
): readonly FieldProblem[] {
  const chars = constraints.reduce((sum, text) => sum + text.length, 0);
  if (chars > CHARS_MAX) {
    const detail = `are ${chars} characters long together; the limit is ${CHARS_MAX}`;
    return [{ path: "searcher.constraints", detail }];
  }
  return constraints.flatMap((text, index) => {
    const problem = problemOf(text, space);
    return problem === null
      ? []
      : [{ path: itemPath("searcher.constraints", index), detail: problem }];
  });
}

function problemOf(text: string, space: HyperparameterSpace): string | null {
  try {
    const expression = parseExpression(text);
    const kinds = kindsOf(expression, (keys, column) => kindsOfNode(keys, column, space));
    eachComparedValue(expression, (keys, value, column) => {
      const node = nodeAt(keys, column, space);
      const choices = isTyped(node) ? choicesOf(node) : null;
      if (choices === null || choices.some((choice) => isSameValue(choice, value))) return;
      const compared = `compares ${keys.join(".")} with ${JSON.stringify(value)}`;
      throw new ExpressionError(column, `${compared}, which is not one of its values`);
    });
    if (kinds.has("truth")) return namesNothing(expression, text);
    return "is not a condition: it must be true or false, for example batch_size <= 512";
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const quoted = unquoted(text.slice(error.column - 1), space);
    return `${error.message}${quoted} (column ${error.column} of ${JSON.stringify(text)})`;
  }
}

/** A name with special characters is parsed as several tokens: the message shows it in backticks. */
function unquoted(rest: string, space: HyperparameterSpace): string {
  const meant = namesIn(space).find(
    (name) => name.includes("`") && rest.startsWith(name.replaceAll("`", "")),
  );
  return meant === undefined ? "" : `; write ${meant}`;
}

function namesNothing(expression: Expression, text: string): string | null {
  let named = false;
  eachName(expression, () => {
    named = true;
  });
  return named ? null : `names no hyperparameter: ${JSON.stringify(text)}`;
}

/** Returns the values of a hyperparameter with separate values; null for a range. */
function choicesOf(hyperparameter: TypedHyperparameter): readonly Json[] | null {
  if (hyperparameter.type === "const") return [hyperparameter.val];
  return hyperparameter.type === "categorical" ? hyperparameter.vals : null;
}

function kindsOfNode(
  keys: readonly string[],
  column: number,
  space: HyperparameterSpace,
): ReadonlySet<ValueKind> {
  const node = nodeAt(keys, column, space);
  if (isTyped(node)) return kindsOfHyperparameter(node);
  throw new ExpressionError(
    column,
    `names ${keys.join(".")}, which is a group of hyperparameters: name one of them`,
  );
}

function nodeAt(keys: readonly string[], column: number, space: HyperparameterSpace): SpaceNode {
  let node: SpaceNode | undefined = space;
  for (const key of keys) {
    const nest: SpaceNode | undefined = node;
    node = nest !== undefined && !isTyped(nest) && Object.hasOwn(nest, key) ? nest[key] : undefined;
  }
  if (node !== undefined) return node;
  const name = keys.join(".");
  const meant = closest(name, namesIn(space));
  const instead = meant === null ? "" : `; "${meant}" is`;
  throw new ExpressionError(column, `names ${name}, which is not a hyperparameter${instead}`);
}

function kindsOfHyperparameter(hyperparameter: TypedHyperparameter): ReadonlySet<ValueKind> {
  if (hyperparameter.type === "const") return new Set([kindOfValue(hyperparameter.val)]);
  if (hyperparameter.type === "categorical") return new Set(hyperparameter.vals.map(kindOfValue));
  return new Set(["number"]);
}

/** Returns the names as an expression spells them: names with special characters are in backticks. */
function namesIn(space: HyperparameterSpace, around = ""): readonly string[] {
  return Object.entries(space).flatMap(([key, node]) => {
    const name = `${around}${/^[A-Za-z_]\w*$/.test(key) ? key : `\`${key}\``}`;
    return isTyped(node) ? [name] : namesIn(node, `${name}.`);
  });
}
