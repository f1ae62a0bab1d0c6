/** Hyperparameters and metrics as rows of their own: `hparams.optimizer.lr`, `metrics.loss`. */
import type { Json, JsonObject } from "@trainyard/kernel";
import { indexedText } from "./text.ts";

/** The maximum of attributes of one experiment or trial; lists do not find it by further ones. */
const attributesMax = 200;
/** A name that fits into an index, with up to four bytes a character. */
const nameCharactersMax = 256;

export type Attribute = {
  readonly name: string;
  /** Finite or infinite; null for what is no number. */
  readonly number: number | null;
  /** Null for a number. NaN has no rank: it is the text "NaN". */
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
