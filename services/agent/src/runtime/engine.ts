/** A container engine behind its socket: Docker, or Podman's service, which has the same API. */
import Docker from "dockerode";
import { storableText } from "@trainyard/kernel";
import type { EngineKind } from "../core/container-body.ts";
import { limits } from "../limits.ts";

/** The time limit of a request that makes or removes a container; Podman takes a second on a slow disk. */
const requestMs = 60_000;

export function engineAt(socket: string): Docker {
  return new Docker({ socketPath: socket });
}

/** A signal that limits the time of one call; `wait` and a pull need none. */
export function bounded(ms = requestMs): AbortSignal {
  return AbortSignal.timeout(ms);
}

/** Limits the time of a call that takes no signal. */
export async function inTime<T>(answer: Promise<T>, ms = requestMs): Promise<T> {
  const signal = bounded(ms);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  return await Promise.race([answer, late]);
}

/** Returns which of the two engines answers. Throws if none does. */
export async function kindOfEngine(engine: Docker): Promise<EngineKind> {
  const { Components = [] } = (await inTime(engine.version())) as unknown as {
    Components?: readonly { Name: string }[] | null;
  };
  const isPodman = (Components ?? []).some(({ Name }) => /podman/i.test(Name));
  return isPodman ? "podman" : "docker";
}

/** The HTTP status of a refusal; null if the engine did not answer. */
export function statusOf(error: unknown): number | null {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === "number" ? statusCode : null;
}

export function isGone(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** A sentence about a failed call; the engine's message in it is shortened. */
export function problemOf(error: unknown, socket: string): string {
  return storableText(wordsOf(error, socket), limits.saidCharsMax);
}

function wordsOf(error: unknown, socket: string): string {
  if (statusOf(error) === null) {
    const { code, message, name } = (error ?? {}) as NodeJS.ErrnoException;
    const why = name === "AbortError" || name === "TimeoutError" ? "no answer in time" : code;
    return `the container engine at ${socket} does not answer (${why ?? message ?? String(error)})`;
  }
  const { json, reason } = error as { json?: unknown; reason?: unknown };
  const said = (json ?? {}) as { message?: unknown };
  if (typeof said.message === "string" && said.message !== "") return said.message;
  return String(reason ?? (error as Error).message);
}
