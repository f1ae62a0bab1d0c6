import { type Evidence, type Sentence, text, valueAt } from "../evidence.ts";

/** The rules of successive halving. */
export const halvingSentences = {
  halving: standing,
  rung_closed: (evidence) => `${standing(evidence)}, and no other trial will reach it`,
  rung_not_trusted: ({ units, first_rung }) =>
    `early values, at ${text(units)}, do not predict later ones; trials are compared from ${text(first_rung)} on`,
  best_so_far: ({ value, units }) =>
    `${valueAt(value, units)} is the best value of all trials so far`,
  probe: (evidence) =>
    `${standing(evidence)}; it continues to show whether early values predict later ones`,
} as const satisfies Readonly<Record<string, Sentence>>;

/** The sentence about a trial's rank in a rung of successive halving. */
function standing({ value, units, rank, of, kept, cutoff }: Evidence): string {
  const at = `${valueAt(value, units)} is number ${text(rank)} of ${text(of)}`;
  const on = cutoff === null || cutoff === undefined ? "" : `, down to ${text(cutoff)}`;
  return `${at}, of which ${text(kept)} continue${on}`;
}
