/** The delivery of what an ended process left: in rounds, by requests with the token of its run. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { Backoff, type Clock, retryAfterMs } from "@trainyard/kernel";
import { limits } from "../limits.ts";

/**
 * Repeats a round until it returns how the delivery ended; null when the signal aborts. A round that must be repeated
 * returns the least wait before it, in milliseconds.
 */
export async function inRounds<End extends string>(
  clock: Clock,
  signal: AbortSignal,
  round: (progressed: () => void) => Promise<End | number>,
): Promise<End | null> {
  const backoff = new Backoff(limits.retry, clock, signal);
  while (!signal.aborted) {
    const end = await round(() => backoff.reset());
    if (typeof end !== "number") return end;
    await backoff.wait(end);
  }
  return null;
}

type RunAnswer = {
  readonly status: number;
  /** False for an answer of another program, for example a proxy before the platform: it decides nothing. */
  readonly isOfPlatform: boolean;
  readonly text: string;
  readonly retryAfterMs: number;
  /** The code of a problem of the platform; empty for any other answer. */
  readonly code: string;
  /** The detail of a problem, or the reason why there is no answer. */
  readonly why: string;
};

/** The id of the run for the platform, as 12.3#1 or t12#1. */
export function idOfRun({ trial, task, run }: Plain<Launch>): string {
  return `${task?.id ?? trial}#${run}`;
}

export function pathOfRun(launch: Plain<Launch>): string {
  return `/api/v1/runs/${encodeURIComponent(idOfRun(launch))}`;
}

/**
 * Posts a JSON text, or gets without one. A request without an answer counts as answered with 503 by another program.
 */
export async function requestAsRun(
  { token }: Plain<Launch>,
  url: string,
  body: string | null,
  signal: AbortSignal,
  more: Readonly<Record<string, string>> = {},
): Promise<RunAnswer> {
  const authorization = { authorization: `Bearer ${token}` };
  const json = { "content-type": "application/json", ...more, ...authorization };
  try {
    const response = await fetch(url, {
      ...(body === null ? { headers: authorization } : { method: "POST", headers: json, body }),
      // Another program redirects, since the platform does not.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.deliveryRequestMs)]),
    });
    const { status, headers } = response;
    const text = await response.text();
    const waitMs = Math.min(retryAfterMs(headers.get("retry-after")), limits.retry.lastMs);
    const [kind = ""] = (headers.get("content-type") ?? "").split(";");
    const isOfPlatform = kind.trim().toLowerCase() === kindOf(status);
    const why = isOfPlatform
      ? (textIn(text, "detail") ?? `the platform answered ${status}`)
      : `HTTP ${status} from something that is not Trainyard`;
    const code = isOfPlatform && status >= 400 ? (textIn(text, "code") ?? "") : "";
    return { status, isOfPlatform, text, retryAfterMs: waitMs, code, why };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { status: 503, isOfPlatform: false, text: "", retryAfterMs: 0, code: "", why };
  }
}

const kindOf = (status: number): string =>
  status >= 200 && status < 300 ? "application/json" : "application/problem+json";

/** The text at a key of an answer's JSON object; null if there is none. */
function textIn(text: string, key: string): string | null {
  try {
    const value = (JSON.parse(text) as Readonly<Record<string, unknown>> | null)?.[key];
    return typeof value === "string" ? value : null;
  } catch {
    // The answer does not come from the platform.
    return null;
  }
}
