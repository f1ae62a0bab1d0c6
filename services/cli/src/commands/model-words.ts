/** The options for the description, labels, notes and metadata of models and versions. */
import type { JsonObject } from "@trainyard/kernel";
import type { Command } from "commander";
import { collect } from "../option-values.ts";
import { UsageError } from "../usage-error.ts";

export type WordOptions = {
  readonly description?: string;
  readonly notes?: string;
  readonly label?: readonly string[];
  readonly removeLabel?: readonly string[];
  readonly metadata?: readonly string[];
};

export function addWordOptions(command: Command): Command {
  return command
    .option("--description <text>", "one line about it")
    .option("--notes <text>", "as long as it has to be")
    .option("--label <label>", "may be given several times", collect)
    .option("--metadata <name=value>", "a value is read as JSON, else as text", collect);
}

/** Returns the request fields of the options for something new. */
export function newWords(options: WordOptions) {
  const { description = "", notes = "", label = [], metadata } = options;
  return { description, notes, labels: [...label], ...metadataOf(metadata) };
}

/** Returns the request fields of the options that change something; fields without an option stay unchanged. */
export function changedWords(options: WordOptions) {
  const { description, notes, label = [], removeLabel = [], metadata } = options;
  const changed = [description, notes, metadata, options.label, options.removeLabel];
  if (changed.every((one) => one === undefined)) {
    throw new UsageError("Give at least one option that changes something; see --help.");
  }
  return {
    ...(description === undefined ? {} : { description }),
    ...(notes === undefined ? {} : { notes }),
    addLabels: [...label],
    removeLabels: [...removeLabel],
    ...metadataOf(metadata),
  };
}

function metadataOf(given: readonly string[] | undefined): { readonly metadata?: JsonObject } {
  if (given === undefined) return {};
  return { metadata: Object.fromEntries(given.map(entryOf)) };
}

function entryOf(text: string): [string, JsonObject[string]] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--metadata takes name=value, not ${JSON.stringify(text)}.`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value) as JsonObject[string]];
  } catch {
    return [text.slice(0, at), value];
  }
}
