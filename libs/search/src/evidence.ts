/** Parts of the sentences about decisions. */

/** The evidence of a decision, as its event carries it. */
export type Evidence = Readonly<Record<string, unknown>>;

/** Six digits are enough to read; the event has them all. */
export function text(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  return value === null || value === undefined ? "nothing" : String(value);
}
