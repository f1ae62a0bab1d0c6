/** The platform's answers about a run's checkpoints, to requests with the token of that run. */
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import {
  finalCodes,
  historyLostCode,
  incompleteCode,
  unknownCode,
} from "../core/checkpoint-refusals.ts";
import { requestAsRun } from "./delivery.ts";

type Asked = { readonly launch: Plain<Launch>; readonly apiUrl: string };

/** The checkpoint is refused for good. */
export type Refused = { readonly kind: "refused"; readonly why: string; readonly code: string };

/** The delivery is retried later: of this checkpoint only (`alone`), or of all. */
export type Later = {
  readonly kind: "later";
  readonly alone: boolean;
  readonly retryAfterMs: number;
  readonly why: string;
  /** The platform works and refuses the caller, which a person has to see. */
  readonly refusesCaller?: boolean;
};

/** The log does not have this run: nothing of it is sent until the log may be another one. */
export type Lost = { readonly kind: "lost"; readonly why: string };

/** The platform has given the checkpoint up: it takes it no more, and the only copy may be here. */
export type Abandoned = { readonly kind: "abandoned"; readonly why: string };

export type Answer =
  /** `store` is the object store of the checkpoint's files; empty for a directory. */
  { readonly kind: "taken"; readonly store: string } | Refused | Later | Lost | Abandoned;

/** The state of a checkpoint for the platform: complete, declared and no more, otherwise known, or never declared. */
export type Standing =
  | { readonly kind: "complete" | "incomplete" | "known" | "unknown" }
  | Later
  | Lost;

/** The status for a lost run whose checkpoints the platform does not know yet. */
const tooEarly = 425;

export async function call(
  { launch, apiUrl }: Asked,
  signal: AbortSignal,
  path: string,
  message: object,
): Promise<Answer> {
  const answer = await requestAsRun(launch, `${apiUrl}${path}`, JSON.stringify(message), signal);
  const { status, text, code, why } = answer;
  if (answer.isOfPlatform && status >= 200 && status < 300) {
    return { kind: "taken", store: storeIn(text) };
  }
  const isFinal = status >= 400 && status < 500 && finalCodes.has(code);
  return isFinal ? { kind: "refused", why, code } : undecided(answer);
}

/** Asks for the plan of a checkpoint, which only a complete one has. */
export async function standingOf(
  { launch, apiUrl }: Asked,
  checkpoint: string,
  signal: AbortSignal,
): Promise<Standing> {
  const url = `${apiUrl}/api/v1/checkpoints/${checkpoint}/plan`;
  const answer = await requestAsRun(launch, url, null, signal);
  const { status, code } = answer;
  if (answer.isOfPlatform && status >= 200 && status < 300) return { kind: "complete" };
  if (code === unknownCode) return { kind: "unknown" };
  if (code === incompleteCode) return { kind: "incomplete" };
  if (code.startsWith("checkpoint_")) return { kind: "known" };
  return undecided(answer);
}

function undecided(answer: Awaited<ReturnType<typeof requestAsRun>>): Later | Lost {
  const { status, isOfPlatform, retryAfterMs, code, why } = answer;
  // A proxy with a limit for the size of requests may take the next checkpoint.
  if (!isOfPlatform) return { kind: "later", alone: status === 413, retryAfterMs, why };
  if (code === historyLostCode) return { kind: "lost", why };
  const isOutage = status >= 500 || status === 408 || status === 429;
  if (isOutage || status === tooEarly) {
    return { kind: "later", alone: status === tooEarly, retryAfterMs, why };
  }
  return { kind: "later", alone: true, retryAfterMs, why, refusesCaller: true };
}

function storeIn(text: string): string {
  try {
    const { store } = JSON.parse(text) as { store?: unknown };
    return typeof store === "string" ? store : "";
  } catch {
    return "";
  }
}
