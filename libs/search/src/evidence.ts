/** Helpers for the sentences about decisions. */

/** The evidence of a decision, as recorded in its event. */
export type Evidence = Readonly<Record<string, unknown>>;

/** Numbers are shown with six digits; the event has all digits. */
export function text(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  return value === null || value === undefined ? "nothing" : String(value);
}
