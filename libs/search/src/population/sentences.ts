import { type Evidence, rankText, type Sentence, text } from "../evidence.ts";

/** The rules of population-based training. */
export const pbtSentences = {
  pbt_exploit: (evidence) => {
    const { donor, donor_value, copy, checkpoint_time } = evidence;
    return `${rankOf(evidence)}; trial ${text(copy)} replaces it, from the checkpoint of trial ${text(donor)} (${text(donor_value)}) at time ${text(checkpoint_time)}`;
  },
  pbt_good_enough: (evidence) => `${rankOf(evidence)}, good enough to continue`,
  pbt_last_trial: (evidence) =>
    `${rankOf(evidence)}, and the search has no trial left to replace it`,
  pbt_turn: ({ time, waiting }) =>
    `a place is free; it waited at time ${text(time)}, and of ${text(waiting)} waiting members those with the least training go first`,
} as const satisfies Readonly<Record<string, Sentence>>;

function rankOf(evidence: Evidence): string {
  const { time, of, places } = evidence;
  const all = places === undefined || places === of;
  const those = all ? "" : ` (${text(of)} of ${text(places)} members have reported)`;
  return `${rankText(evidence, time)}${those}`;
}

/** The rules of a schedule. */
export const scheduleSentences = {
  segment_end: ({ until, segment, of }) =>
    `its segment of the schedule, ${text(segment)} of ${text(of)}, lasts until ${text(until)}`,
  segment_failed: ({ segment, of }) =>
    `segment ${text(segment)} of ${text(of)} of the schedule failed`,
} as const satisfies Readonly<Record<string, Sentence>>;
