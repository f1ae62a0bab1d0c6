/**
 * The rule by which a task is idle: pure, from looks at the task and the host's uptime. A changed date is unknown to
 * it, and its state is a record that outlives the agent (idle-record.ts).
 *
 *   state   when the task was used last, whether a use lasts, and since when the task does not answer
 *   look    an observation: silent, or whether a use lasts, and how long ago the last one was
 *
 * Invariants. The time of the last use never goes back, and is never in the future. While a task does not answer, it is
 * in use; a silence that is shorter than `limits.useSilenceMs`, such as that of a busy host, does not begin the idle
 * time again. A use that lasts has ended at the look that sees its end, since nobody has seen when. All other uses say
 * how long ago they were, so that the time without an agent counts like any other.
 */
import type { NotebookIdleType } from "@trainyard/experiment-config/recorded";
import { limits } from "../limits.ts";
import type { ServerUse } from "../servers/server-use.ts";

/** Times are the host's uptime in milliseconds. */
export type UseState = {
  readonly usedMs: number;
  /** Whether the last answer had a use that lasts. */
  readonly held: boolean;
  /** The first of the looks without an answer since the last answer; null if the last look had one. */
  readonly silentMs: number | null;
};

export type Observation =
  | "silent"
  | {
      /** Whether something uses the task for as long as it exists, such as a kernel. */
      readonly held: boolean;
      /** How long ago the last use was; null if there was none. */
      readonly agoMs: number | null;
    };

/** The answers of a task; times in milliseconds, null for never. */
export type Seen = {
  /** Since something was typed into the task's terminals and executed programs, or they wrote something. */
  readonly typedAgoMs: number | null;
  /** Since bytes passed a declared port, through the tunnel. */
  readonly portsAgoMs: number | null;
  /** The answer of the server of the task's page; null for a task without a page. */
  readonly page: ServerUse | null;
};

/** Returns the state after a look. `before` is null at the first look at a run, which counts as used then. */
export function stateAfter(before: UseState | null, look: Observation, upMs: number): UseState {
  const { usedMs, held, silentMs } = before ?? { usedMs: upMs, held: false, silentMs: null };
  if (look === "silent") {
    const sinceMs = silentMs ?? upMs;
    const isLong = upMs - sinceMs >= limits.useSilenceMs;
    return { usedMs: isLong ? Math.max(usedMs, upMs) : usedMs, held, silentMs: sinceMs };
  }
  const lasted = held || look.held;
  const agoMs = lasted ? 0 : Math.max(0, look.agoMs ?? Number.POSITIVE_INFINITY);
  return { usedMs: Math.max(usedMs, upMs - agoMs), held: look.held, silentMs: null };
}

/** Returns the time without use. */
export function idleMsOf({ usedMs, held, silentMs }: UseState, upMs: number): number {
  return held || silentMs !== null ? 0 : Math.max(0, upMs - usedMs);
}

/** Returns the look at a task that has answered. `idleType` is notebook_idle_type. */
export function observationOf(kind: string, idleType: NotebookIdleType, seen: Seen): Observation {
  const page = seen.page === null ? nothing : pageObservation(kind, idleType, seen.page);
  return { held: page.held, agoMs: latest([seen.typedAgoMs, seen.portsAgoMs, page.agoMs]) };
}

const nothing = { held: false, agoMs: null };

function pageObservation(
  kind: string,
  idleType: NotebookIdleType,
  use: ServerUse,
): Exclude<Observation, string> {
  const { kernels, terminals } = use;
  if (kind !== "notebook") return { held: false, agoMs: milliseconds(use.request_seconds) };
  if (idleType === "kernels_or_terminals")
    return { held: kernels.length + terminals.length > 0, agoMs: null };
  if (idleType === "kernel_connections")
    return { held: kernels.some(({ connections }) => connections > 0), agoMs: null };
  const active = [
    // A kernel that nobody has ever connected to stays in the state "starting", and runs nothing of anybody.
    ...kernels
      .filter((kernel) => kernel.ever_connected)
      .map(({ busy, idle_seconds }) => (busy ? 0 : idle_seconds)),
    ...terminals.map(({ idle_seconds }) => idle_seconds),
    use.write_seconds,
  ];
  return { held: false, agoMs: latest(active.map(milliseconds)) };
}

const milliseconds = (seconds: number | null): number | null =>
  seconds === null ? null : seconds * 1_000;

function latest(agoMs: readonly (number | null)[]): number | null {
  const known = agoMs.filter((ms) => ms !== null);
  return known.length === 0 ? null : Math.min(...known);
}
