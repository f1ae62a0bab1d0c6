import { randomUUID } from "node:crypto";

const pattern = /^[\w.:=-]{1,100}$/;

/** Returns the caller's id of a request if it is short and plain, otherwise a new one. */
export function requestIdOf(given: unknown): string {
  return typeof given === "string" && pattern.test(given) ? given : randomUUID();
}
