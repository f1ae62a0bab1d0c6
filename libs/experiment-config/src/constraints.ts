/** Whether the constraints of a search can be read and speak of hyperparameters that there are. */
import type { FieldProblem } from "@trainyard/kernel";
import type { HyperparameterSpace, TypedHyperparameter } from "./config.ts";
import { eachName, type Expression, parseExpression } from "./expression/expression.ts";
import { kindOfValue, kindsOf, type ValueKind } from "./expression/kinds.ts";
import { ExpressionError } from "./expression/tokens.ts";
import { itemPath } from "./json.ts";
import { isTyped, type SpaceNode } from "./space.ts";
import { closest } from "./suggest.ts";

export function constraintProblems(
  constraints: readonly string[],
  space: HyperparameterSpace,
): readonly FieldProblem[] {
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
    if (kinds.has("truth")) return namesNothing(expression, text);
    return "is not a condition: it must be true or false, for example batch_size <= 512";
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const quoted = unquoted(text.slice(error.column - 1), space);
    return `${error.message}${quoted} (column ${error.column} of ${JSON.stringify(text)})`;
  }
}

/** A name with other signs than letters reads as several: what was meant stands there as it is. */
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

function kindsOfNode(
  keys: readonly string[],
  column: number,
  space: HyperparameterSpace,
): ReadonlySet<ValueKind> {
  let node: SpaceNode | undefined = space;
  for (const key of keys) {
    const nest: SpaceNode | undefined = node;
    node = nest !== undefined && !isTyped(nest) && Object.hasOwn(nest, key) ? nest[key] : undefined;
  }
  const name = keys.join(".");
  if (node === undefined) {
    const meant = closest(name, namesIn(space));
    const instead = meant === null ? "" : `; "${meant}" is`;
    throw new ExpressionError(column, `names ${name}, which is not a hyperparameter${instead}`);
  }
  if (!isTyped(node)) {
    throw new ExpressionError(column, `names ${name}, which is a nest and no hyperparameter`);
  }
  return kindsOfHyperparameter(node);
}

function kindsOfHyperparameter(hyperparameter: TypedHyperparameter): ReadonlySet<ValueKind> {
  if (hyperparameter.type === "const") return new Set([kindOfValue(hyperparameter.val)]);
  if (hyperparameter.type === "categorical") return new Set(hyperparameter.vals.map(kindOfValue));
  return new Set(["number"]);
}

/** As an expression names them; what is no plain name is written in backticks. */
function namesIn(space: HyperparameterSpace, around = ""): readonly string[] {
  return Object.entries(space).flatMap(([key, node]) => {
    const name = `${around}${/^[A-Za-z_]\w*$/.test(key) ? key : `\`${key}\``}`;
    return isTyped(node) ? [name] : namesIn(node, `${name}.`);
  });
}
