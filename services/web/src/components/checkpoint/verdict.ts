import type { ReplyOf } from "@trainyard/contracts";
import { time } from "../format.ts";

type Verdict = Pick<
  ReplyOf<"explainCheckpoint">,
  "keeps" | "keptBy" | "waits" | "state" | "by" | "graceEndMs"
>;

type Policy = Pick<
  NonNullable<ReplyOf<"previewRetention">["policy"]>,
  "saveExperimentBest" | "saveTrialBest" | "saveTrialLatest"
>;

/** The checkpoints that a policy keeps, as a sentence without rules that keep none. */
export function policyText({ saveExperimentBest, saveTrialBest, saveTrialLatest }: Policy): string {
  const rules = [
    [saveExperimentBest, "best", "the experiment"],
    [saveTrialBest, "best", "each trial"],
    [saveTrialLatest, "latest", "each trial"],
  ] as const;
  const parts = rules.flatMap(([kept, which, of]) =>
    kept === 0 ? [] : [kept === 1 ? `the ${which} of ${of}` : `the ${kept} ${which} of ${of}`],
  );
  if (parts.length === 0) return "The policy keeps no checkpoint.";
  return `The policy keeps ${new Intl.ListFormat("en").format(parts)}.`;
}

/** The rule that keeps or condemns a checkpoint, as a sentence; empty for an unknown rule. */
export function verdictText(verdict: Verdict | undefined): string {
  if (verdict === undefined) return "";
  const { keeps, keptBy, waits } = verdict;
  if (keeps) return `Kept: ${keptBy.join("; ")}`;
  const grace = graceText(verdict);
  return `${wordOf(verdict)}${grace === "" ? "" : `, ${grace}`}${waits === "" ? "" : `; waits: ${waits}`}`;
}

/**
 * The same for a row beside the state: the time until which a condemned checkpoint can be brought back, which is never
 * cut, and the rest, which may be.
 */
export function verdictParts(verdict: Verdict | undefined): {
  readonly whole: string;
  readonly rest: string;
} {
  const whole = verdict === undefined || verdict.keeps ? "" : graceText(verdict);
  if (verdict === undefined || whole === "") return { whole, rest: verdictText(verdict) };
  const { by, waits } = verdict;
  const person = by === "" ? "" : `, deleted by ${by}`;
  return { whole, rest: `${person}${waits === "" ? "" : `; waits: ${waits}`}` };
}

function graceText({ graceEndMs }: Verdict): string {
  return graceEndMs === undefined ? "" : `can be brought back until ${time(graceEndMs)}`;
}

function wordOf({ state, by }: Verdict): string {
  return `${state === "condemned" ? "to be deleted" : state}${by === "" ? "" : ` by ${by}`}`;
}
