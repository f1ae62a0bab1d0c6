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
  const { keeps, keptBy, waits, graceEndMs, state, by } = verdict;
  if (keeps) return `Kept: ${keptBy.join("; ")}`;
  const person = by === "" ? "" : ` by ${by}`;
  const grace = graceEndMs === undefined ? "" : `, can be brought back until ${time(graceEndMs)}`;
  const word = state === "condemned" ? "to be deleted" : state;
  return `${word}${person}${grace}${waits === "" ? "" : `; waits: ${waits}`}`;
}
