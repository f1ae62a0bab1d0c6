/** The text that a fork begins with: what the user wrote, without the defaults of the platform. Pure. */
import type { ReplyOf } from "@trainyard/contracts";
import { linesOfKeys } from "./yaml-lines.ts";

type Submission = Pick<ReplyOf<"getSubmission">, "config" | "seed" | "record">;

/** Overrides that the form sends itself, and that are no part of what a user wrote. */
const ownOverrides = /^(reproducibility\.experiment_seed|searcher\.source_)/;

/**
 * Returns the submitted text as it is; one that overrides changed, or that a program wrote as JSON, as the recorded
 * configuration without its defaults.
 */
export function forkText({ config, record }: Submission): string {
  const { configText = "", overrides = [], defaulted = [] } = record ?? {};
  const isChanged = overrides.some((override) => !ownOverrides.test(override));
  const isWritten = configText.trim() !== "" && !configText.trimStart().startsWith("{");
  return isWritten && !isChanged ? configText : linesWithout(config, defaulted);
}

/** Returns the lines of the recorded configuration that are defaults. */
export function defaultLines({ config, record }: Submission): string {
  const faint = linesOfKeys(config, record?.defaulted ?? []);
  return config
    .split("\n")
    .filter((_, at) => faint.has(at))
    .join("\n");
}

function linesWithout(config: string, defaulted: readonly string[]): string {
  const faint = linesOfKeys(config, defaulted);
  return config
    .split("\n")
    .filter((_, at) => !faint.has(at))
    .join("\n");
}

/** Returns the overrides of a fork that draws the same numbers; none if its text names a seed. */
export function seedOverrides(text: string, seed: number): readonly string[] {
  return text.includes("experiment_seed") ? [] : [`reproducibility.experiment_seed=${seed}`];
}
