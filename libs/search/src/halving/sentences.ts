import { type Evidence, rankText, type Sentence, text } from "../evidence.ts";

/** The rules of successive halving. */
export const halvingSentences = {
  halving: standing,
  rung_closed: (evidence) => `${standing(evidence)}, and no further trial will be compared here`,
  rung_not_trusted: ({ units, first_rung }) =>
    `early values, at time ${text(units)}, do not predict later ones; trials are compared from time ${text(first_rung)} on`,
  best_so_far: ({ value, units }) =>
    `its ${text(value)} at time ${text(units)} is the best value of all trials so far`,
  probe: (evidence) =>
    `${standing(evidence)}; it continues to show whether early values predict later ones`,
} as const satisfies Readonly<Record<string, Sentence>>;

/** The sentence about a trial's rank in a rung of successive halving. */
function standing(evidence: Evidence): string {
  return `${rankText(evidence, evidence["units"])}; ${continuing(evidence)}`;
}

function continuing({ of, kept, cutoff }: Evidence): string {
  if (kept === 0) return "none of them continues yet";
  if (kept === of) return "all of them continue";
  const down = cutoff === null || cutoff === undefined ? "" : ` (cutoff ${text(cutoff)})`;
  return kept === 1 ? `only the best continues${down}` : `the best ${text(kept)} continue${down}`;
}
