/**
 * The name, description, notes and labels of an experiment. A change is merged into the present values. Only the
 * changed values are checked against the limits, since a configuration may have exceeded them.
 */
import { isLine, type Rejection, reject, utf8Bytes } from "@trainyard/kernel";
import { limits } from "../../limits.ts";

export type Words = {
  readonly name: string;
  readonly description: string;
  readonly notes: string;
  readonly labels: readonly string[];
};

/** A change; absent fields stay. A label that is both removed and added is present afterwards. */
export type WordsChange = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly notes?: string | undefined;
  readonly addLabels: readonly string[];
  readonly removeLabels: readonly string[];
};

export const noWords: Words = { name: "", description: "", notes: "", labels: [] };

/** Returns the values after a change, or the rejection. */
export function changedWords(words: Words, change: WordsChange): Words | Rejection {
  const removed = new Set(change.removeLabels);
  const kept = words.labels.filter((label) => !removed.has(label));
  const labels = [...new Set([...kept, ...change.addLabels])].toSorted();
  const problem = problemOf(change) ?? tooMany(labels, change);
  if (problem !== null) return reject("invalid_request", problem);
  const { name, description, notes } = change;
  return {
    name: name ?? words.name,
    description: description ?? words.description,
    notes: notes ?? words.notes,
    labels,
  };
}

/** Compares two sets of values; the order of labels does not matter. */
export function sameWords(one: Words, other: Words): boolean {
  return canonical(one) === canonical(other);
}

function canonical({ name, description, notes, labels }: Words): string {
  return JSON.stringify([name, description, notes, labels.toSorted()]);
}

function problemOf({ name = "", description = "", notes = "", addLabels }: WordsChange) {
  const { nameCharactersMax, labelCharactersMax, descriptionBytesMax, notesBytesMax } = limits;
  const line = "none of them a control character, and no space at its ends";
  if (name.length > nameCharactersMax || !isLine(name)) {
    return `the name may have ${nameCharactersMax} characters, ${line}`;
  }
  const bad = addLabels.find(
    (label) => label === "" || label.length > labelCharactersMax || !isLine(label),
  );
  if (bad !== undefined) {
    const shown = JSON.stringify(bad.slice(0, 80));
    return `the label ${shown} must have 1 to ${labelCharactersMax} characters, ${line}`;
  }
  return (
    tooLong("description", description, descriptionBytesMax) ??
    tooLong("notes", notes, notesBytesMax)
  );
}

function tooLong(what: string, text: string, most: number): string | null {
  const bytes = utf8Bytes(text);
  return bytes > most ? `the ${what} takes ${bytes} bytes; the maximum is ${most}` : null;
}

function tooMany(labels: readonly string[], { addLabels }: WordsChange): string | null {
  if (addLabels.length === 0 || labels.length <= limits.labelsMax) return null;
  return `there would be ${labels.length} labels and may be ${limits.labelsMax}`;
}
