import { randomBytes } from "node:crypto";

/** The format of W3C Trace Context, version 00; ids of zeros only are invalid. */
const pattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export const isTraceparent = (text: string): boolean => pattern.test(text);

/** Whether the trace's first service decided that its spans are sent. */
export const isSampled = (traceparent: string): boolean =>
  (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;

/** Returns a valid traceparent as it is; for another text a new one, which asks nobody to send spans. */
export function continued(text: string): string {
  if (isTraceparent(text)) return text;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-00`;
}
