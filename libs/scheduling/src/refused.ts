/**
 * Questions that were answered with no in this pass, each with the state at that time. Free slots only decrease during
 * a pass, so in the same state the answer is still no.
 */
export type Refused = Map<string, number>;

/** Returns null without calling `answer` if the same question was answered with no in the same state. */
export function unlessNo<T>(
  no: Refused,
  question: string,
  state: number,
  answer: () => T | null,
): T | null {
  if (no.get(question) === state) return null;
  const found = answer();
  if (found === null) no.set(question, state);
  return found;
}
