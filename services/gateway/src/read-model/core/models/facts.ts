/** The searchable facts of a model version. A removed version has none. */
import { isStorable, type Json } from "@trainyard/kernel";
import type { VersionDocument } from "../views/documents.ts";

/** The longest name: with up to three bytes a character it fits into an index. */
const nameCharactersMax = 512;
/** The longest value: more than a person would type. */
const textCharactersMax = 1_000;
/** The most facts of one version: metadata and metrics may have thousands of keys. */
const factsMax = 5_000;

export type Fact = {
  readonly fact: string;
  readonly number: number | null;
  readonly text: string | null;
};

export const stepFact = "step";
export const labelFact = (label: string): string => `label=${label}`;
export const semanticFact = (version: string): string => `semver=${version}`;
export const metricFact = (name: string): string => `metrics.${name}`;

/** Returns at most one fact per name, because the table has one row per name. */
export function factsOf(version: VersionDocument): readonly Fact[] {
  if (version.state === "REMOVED") return [];
  const facts = new Map<string, Fact>();
  const add = (fact: string, value: Json): void => {
    const found = factOf(fact, value);
    if (found !== null && facts.size < factsMax) facts.set(fact, found);
  };
  add(stepFact, version.stepsCompleted);
  if (version.semanticVersion !== "") add(semanticFact(version.semanticVersion), "");
  for (const label of version.labels) add(labelFact(label), "");
  for (const [name, value] of Object.entries(version.metrics)) add(metricFact(name), value);
  for (const [path, value] of leaves(version.hyperparameters ?? {}, "hparams")) add(path, value);
  for (const [path, value] of leaves(version.metadata ?? {}, "metadata")) add(path, value);
  return [...facts.values()];
}

/** Makes a fact; null if the value cannot be indexed or is too long for a search. */
function factOf(fact: string, value: Json): Fact | null {
  if (fact.length > nameCharactersMax || !isStorable(fact)) return null;
  if (typeof value === "number") {
    // NaN and the infinities cannot be compared in an index.
    return Number.isFinite(value) ? { fact, number: value, text: null } : null;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > textCharactersMax || !isStorable(text)) return null;
  return { fact, number: null, text };
}

function* leaves(value: Json, path: string): Generator<readonly [string, Json]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    yield [path, value];
    return;
  }
  for (const [name, below] of Object.entries(value)) yield* leaves(below, `${path}.${name}`);
}
