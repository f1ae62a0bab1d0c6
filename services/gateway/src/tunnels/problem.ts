import { isFault } from "@trainyard/kernel";
import { Problem } from "../http/problem.ts";

const statusOfFault: Readonly<Record<string, number>> = {
  undeclared_port: 403,
  too_many_streams: 429,
};

/** Returns the problem for a stream that a tunnel refused. */
export function problemOfTunnel(error: unknown): unknown {
  if (!isFault(error)) return error;
  const { code, message, retry } = error;
  const status = statusOfFault[code] ?? (retry === "never" ? 409 : 503);
  return new Problem(status, code, message);
}
