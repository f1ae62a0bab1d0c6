/** Hyperparameters and metrics as rows of a table, named `hparams.optimizer.lr` or `metrics.loss`. */
import type { Json, JsonObject } from "@trainyard/kernel";
import { indexedText } from "./text.ts";

/** The most attributes of one experiment or trial. Lists cannot be filtered or sorted by further ones. */
const attributesMax = 200;
/** The longest name: with up to four bytes a character it fits into an index. */
const nameCharactersMax = 256;

export type Attribute = {
  readonly name: string;
  /** The value as a number, finite or infinite; null if it is no number. */
  readonly number: number | null;
  /** The value as a text; null for a number. NaN is the text "NaN", since it has no order. */
  readonly text: string | null;
};

/** Whether a name is that of a hyperparameter or a metric. */
export const isAttribute = (name: string): boolean => /^(hparams|metrics)\../s.test(name);

const metricName = (metric: string): string => `metrics.${metric}`;

export function hyperparameterAttributes(values: JsonObject): readonly Attribute[] {
  return limited(leaves(values, "hparams"));
}

export function metricAttributes(values: Readonly<Record<string, number>>): readonly Attribute[] {
  return limited(Object.entries(values).map(([name, value]) => [metricName(name), value] as const));
}

function limited(values: Iterable<readonly [string, Json]>): readonly Attribute[] {
  const found = new Map<string, Attribute>();
  for (const [name, value] of values) {
    if (found.size >= attributesMax) break;
    if (name.length <= nameCharactersMax) {
      const attribute = attributeOf(indexedText(name), value);
      found.set(attribute.name, attribute);
    }
  }
  return [...found.values()];
}

function attributeOf(name: string, value: Json): Attribute {
  if (typeof value === "number" && !Number.isNaN(value)) return { name, number: value, text: null };
  const text = typeof value === "string" ? value : textOf(value);
  return { name, number: null, text: indexedText(text) };
}

const textOf = (value: Json): string =>
  typeof value === "number" ? String(value) : JSON.stringify(value);

function* leaves(value: Json, path: string): Generator<readonly [string, Json]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    yield [path, value];
    return;
  }
  for (const [name, below] of Object.entries(value)) yield* leaves(below, `${path}.${name}`);
}
