/** Helpers for the sentences about decisions. */

/** The evidence of a decision, as recorded in its event. */
export type Evidence = Readonly<Record<string, unknown>>;

/** Builds the reason of a decision from its evidence. */
export type Sentence = (evidence: Evidence) => string;

/** Numbers are shown with six digits; the event has all digits. */
export function text(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  return value === null || value === undefined ? "nothing" : String(value);
}

/** A trial's rank among trials at a time of their own. */
export function rankText({ value, rank, of }: Evidence, time: unknown): string {
  const what = value === null || value === undefined ? "a value that is not finite" : text(value);
  return `it ranks ${text(rank)} of ${text(of)} with ${what} at time ${text(time)}`;
}
