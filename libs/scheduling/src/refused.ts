/**
 * Questions that were answered with no in this pass, and the state in which they were. What is free only becomes less
 * during a pass: in the same state the answer is still no.
 */
export type Refused = Map<string, number>;

/** Null at once where the same question was answered with no before. */
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
