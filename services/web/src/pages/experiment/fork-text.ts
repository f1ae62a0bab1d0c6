/** The text that a fork begins with: what the user wrote, without the defaults of the platform. Pure. */
import type { ReplyOf } from "@trainyard/contracts";
import { linesOfKeys } from "./yaml-lines.ts";

type Submission = Pick<ReplyOf<"getSubmission">, "config" | "seed" | "record">;

/** The override that the form sends itself again. A checkpoint to start from is a change: the text must name it. */
const seedOverride = /^reproducibility\.experiment_seed=/;

/**
 * Returns the submitted text as it is; one that overrides changed, or that a program wrote as JSON, as the recorded
 * configuration without its defaults.
 */
export function forkText({ config, record }: Submission): string {
  const { configText = "", overrides = [], defaulted = [] } = record ?? {};
  const isChanged = overrides.some((override) => !seedOverride.test(override));
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

/**
 * Returns the overrides of a fork that draws the same numbers; none if its text names a seed. What reads the text is
 * loaded with the form.
 */
export async function seedOverrides(text: string, seed: number): Promise<readonly string[]> {
  const { namesSeed } = await import("./fork-fields.ts");
  return namesSeed(text) ? [] : [`reproducibility.experiment_seed=${seed}`];
}
