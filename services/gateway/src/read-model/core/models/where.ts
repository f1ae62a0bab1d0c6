/**
 * Conditions on model versions, as people write them: `metrics.loss<0.5`, `hparams.optimizer.lr>=1e-3`,
 * `metadata.dataset=v2`, `step>100`, `label=prod`. A name with other characters is quoted as JSON: `metrics."top
 * 1">0.9`. A value may be quoted too.
 */
import { isStorable } from "@trainyard/kernel";
import { unquoted } from "../quoted.ts";
import { labelFact, stepFact } from "./facts.ts";

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=";

export type Condition =
  | { readonly kind: "label"; readonly fact: string; readonly has: boolean }
  | {
      readonly kind: "value";
      readonly fact: string;
      readonly operator: Operator;
      readonly text: string;
      /** The value as a number; null if it is not one. */
      readonly number: number | null;
    };

const charactersMax = 2_000;
const pattern =
  /^\s*(?:(label)|(step)|((?:metrics|hparams|metadata)\.)((?:[\w./-]+)|"(?:[^"\\]|\\.)*"))\s*(==|=|!=|<=|>=|<|>)\s*(.*?)\s*$/s;
const numberPattern = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Parses a condition. For an invalid text returns a sentence that names the problem. */
export function readCondition(given: string): Condition | string {
  const shown = JSON.stringify(given.slice(0, 200));
  const match = given.length > charactersMax ? null : pattern.exec(given);
  if (match === null) {
    return `${shown} is no condition: write metrics.NAME, hparams.NAME, metadata.NAME or step, then = != < <= > or >=, then a value; or label=NAME`;
  }
  const [, label, step, kind, name = "", sign = "", raw = ""] = match;
  const operator = (sign === "==" ? "=" : sign) as Operator;
  const text = unquoted(raw);
  const path = unquoted(name);
  if (text === null || path === null) return `${shown} has a text that is not valid JSON`;
  if (text === "" && raw === "") return `${shown} lacks a value`;
  if (label !== undefined) {
    if (operator === "=" || operator === "!=") {
      return { kind: "label", fact: labelFact(text), has: operator === "=" };
    }
    return `${shown} compares a label, which a version has (=) or has not (!=)`;
  }
  if (!isStorable(path) || !isStorable(text)) return `${shown} has a character that no name has`;
  const number = raw.startsWith('"') || !numberPattern.test(text) ? null : Number(text);
  const ordered = operator !== "=" && operator !== "!=";
  if (ordered && (number === null || !Number.isFinite(number))) {
    return `${shown} compares by size, and ${JSON.stringify(text)} is no number`;
  }
  const fact = step === undefined ? `${kind}${path}` : stepFact;
  return { kind: "value", fact, operator, text, number };
}
