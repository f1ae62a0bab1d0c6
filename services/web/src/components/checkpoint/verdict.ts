import type { ReplyOf } from "@trainyard/contracts";
import { time } from "../format.ts";

type Verdict = Pick<
  ReplyOf<"explainCheckpoint">,
  "keeps" | "keptBy" | "waits" | "state" | "by" | "graceEndMs"
>;

/** The rule that keeps or condemns a checkpoint, as a sentence; empty while it is unknown. */
export function verdictText(verdict: Verdict | undefined): string {
  if (verdict === undefined) return "";
  const { keeps, keptBy, waits, graceEndMs, state, by } = verdict;
  if (keeps) return `Kept: ${keptBy.join("; ")}`;
  const person = by === "" ? "" : ` by ${by}`;
  const grace = graceEndMs === undefined ? "" : `, can be brought back until ${time(graceEndMs)}`;
  return `${state}${person}${grace}${waits === "" ? "" : `; waits: ${waits}`}`;
}
