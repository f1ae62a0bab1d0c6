/** Merges changes into the words of models and versions, within limits. */
import { isLine, type JsonObject, type Rejection, reject, utf8Bytes } from "@trainyard/kernel";
import { registryLimits } from "../../limits.ts";
import type { WordsChange } from "./commands.ts";
import type { Words } from "./state.ts";

export const noWords: Words = { description: "", notes: "", labels: [], metadata: {} };

/** Returns the changed words, or the rejection of the change. */
export function changedWords(words: Words, change: WordsChange): Words | Rejection {
  const removed = new Set(change.removeLabels);
  const kept = words.labels.filter((label) => !removed.has(label));
  const changed: Words = {
    description: change.description ?? words.description,
    notes: change.notes ?? words.notes,
    labels: [...new Set([...kept, ...change.addLabels])].toSorted(),
    metadata: merged(words.metadata, change.metadata ?? {}),
  };
  const problem = problemOf(changed);
  return problem === null ? changed : reject("invalid_request", problem);
}

export function sameWords(one: Words, other: Words): boolean {
  return canonical(one) === canonical(other);
}

export function reasonProblem(reason: string): Rejection | null {
  const { reasonCharactersMax } = registryLimits;
  if (reason.length <= reasonCharactersMax) return null;
  const detail = `the reason has ${reason.length} characters, but at most ${reasonCharactersMax} are allowed`;
  return reject("invalid_request", detail);
}

function merged(metadata: JsonObject, change: JsonObject): JsonObject {
  const entries = Object.entries({ ...metadata, ...change });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

function canonical({ description, notes, labels, metadata }: Words): string {
  return JSON.stringify([description, notes, labels, Object.entries(metadata).toSorted()]);
}

function problemOf({ description, notes, labels, metadata }: Words): string | null {
  const limits = registryLimits;
  const [bad] = labels.filter((label) => !isLabelText(label));
  if (bad !== undefined) {
    return `the label ${JSON.stringify(bad.slice(0, 80))} must have 1 to ${limits.labelCharactersMax} characters, none of them a control character, and no space at its ends`;
  }
  if (labels.length > limits.labelsMax) {
    return `there are ${labels.length} labels and may be ${limits.labelsMax}`;
  }
  const sizes: readonly (readonly [string, string, number])[] = [
    ["description", description, limits.descriptionBytesMax],
    ["notes", notes, limits.notesBytesMax],
    ["metadata", JSON.stringify(metadata), limits.metadataBytesMax],
  ];
  for (const [what, text, most] of sizes) {
    const bytes = utf8Bytes(text);
    if (bytes > most) return `the ${what} takes ${bytes} bytes; the maximum is ${most}`;
  }
  return null;
}

function isLabelText(label: string): boolean {
  return label !== "" && label.length <= registryLimits.labelCharactersMax && isLine(label);
}
