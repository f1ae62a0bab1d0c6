import { type Evidence, type Sentence, text } from "../evidence.ts";

/** A client may give a reason for its operations. */
export const clientSentence: Sentence = ({ reason }) => (typeof reason === "string" ? reason : "");

/** The rules of a custom search. */
export const customSentences = {
  target_reached: ({ target }) => `it has reached ${text(target)}, the target that its client set`,
  no_place: (evidence) => `no place is free: ${places(evidence)}`,
  place_free: (evidence) => `a place is free: ${places(evidence)}`,
} as const satisfies Readonly<Record<string, Sentence>>;

function places({ max_concurrent_trials: most }: Evidence): string {
  return `at most ${text(most)} trials train at a time`;
}
