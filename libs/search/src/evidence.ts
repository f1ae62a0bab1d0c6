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

/** A trial's value at a time, as the subject of a sentence. */
export function valueAt(value: unknown, time: unknown): string {
  return value === null || value === undefined
    ? `its value at ${text(time)}, which is not finite,`
    : `its ${text(value)} at ${text(time)}`;
}
