import { randomBytes } from "node:crypto";
import { isTraceparent } from "@trainyard/kernel";

/** Whether the trace's first service decided that its spans are sent. */
export const isSampled = (traceparent: string): boolean =>
  (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;

/** Returns a valid traceparent as it is; for another text a new one, which asks nobody to send spans. */
export function continued(text: string): string {
  if (isTraceparent(text)) return text;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
}
