import { randomBytes } from "node:crypto";

/** The format of W3C Trace Context, version 00. */
const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export function newTraceparent(): string {
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

/** Returns a span under the given one; a new trace if the text is invalid. */
export function childOf(traceparent: string): string {
  const match = pattern.exec(traceparent);
  if (match === null) return newTraceparent();
  return `00-${match[1]}-${randomBytes(8).toString("hex")}-${match[3]}`;
}
