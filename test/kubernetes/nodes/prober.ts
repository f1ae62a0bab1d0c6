/**
 * The probes of one running container. Liveness and readiness begin after the startup probe's success; a probe changes
 * its verdict after as many equal results as its threshold. Source: docs, "Configure Liveness, Readiness and Startup
 * Probes", "Pod Lifecycle" (container probes).
 */
import { setTimeout as after } from "node:timers/promises";
import type { Probe } from "../controllers/pod-kinds.ts";
import { type ProbeTarget, tried } from "./probes.ts";

export type Verdicts = {
  started(): void;
  ready(is: boolean): void;
  /** The container has to end, and to restart by its pod's policy. */
  unhealthy(kind: "Startup" | "Liveness", probe: Probe, message: string): void;
  failed(kind: "Startup" | "Liveness" | "Readiness", message: string): void;
};

export type Periods = {
  /** The length of a probe's second: shorter in tests of slow probes. */
  readonly secondMs: number;
};

/** Probes until the signal aborts. `isEnding` says that the pod ends: only its readiness matters then. */
export async function probe(
  target: ProbeTarget,
  verdicts: Verdicts,
  { secondMs }: Periods,
  signal: AbortSignal,
  isEnding: () => boolean,
): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = target.container;
  const common = { target, secondMs, signal };
  if (startupProbe !== undefined) {
    for await (const verdict of verdictsOf(startupProbe, common, (message) =>
      verdicts.failed("Startup", message),
    )) {
      if (verdict.ok) break;
      if (!isEnding()) verdicts.unhealthy("Startup", startupProbe, verdict.message);
      return;
    }
  }
  if (signal.aborted) return;
  verdicts.started();
  if (readinessProbe === undefined) verdicts.ready(true);
  await Promise.all([
    readinessProbe && readiness(readinessProbe, common, verdicts),
    livenessProbe && liveness(livenessProbe, common, verdicts, isEnding),
  ]);
}

type Common = {
  readonly target: ProbeTarget;
  readonly secondMs: number;
  readonly signal: AbortSignal;
};

async function readiness(probe: Probe, common: Common, verdicts: Verdicts): Promise<void> {
  const failed = (message: string): void => verdicts.failed("Readiness", message);
  for await (const { ok } of verdictsOf(probe, common, failed)) verdicts.ready(ok);
}

async function liveness(
  probe: Probe,
  common: Common,
  verdicts: Verdicts,
  isEnding: () => boolean,
): Promise<void> {
  const failed = (message: string): void => verdicts.failed("Liveness", message);
  for await (const { ok, message } of verdictsOf(probe, common, failed)) {
    if (ok || isEnding()) continue;
    verdicts.unhealthy("Liveness", probe, message);
    return;
  }
}

/** Yields each time that as many equal results as the threshold have followed each other. */
async function* verdictsOf(
  probe: Probe,
  { target, secondMs, signal }: Common,
  failed: (message: string) => void,
): AsyncGenerator<{ readonly ok: boolean; readonly message: string }> {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1 } = probe;
  const { successThreshold = 1, failureThreshold = 3 } = probe;
  if (!(await slept(initialDelaySeconds * secondMs, signal))) return;
  for (let last: boolean | null = null, count = 0; ; ) {
    const { ok, message } = await tried(probe, target, timeoutSeconds * 1_000);
    if (signal.aborted) return;
    if (!ok) failed(message);
    count = ok === last ? count + 1 : 1;
    last = ok;
    if (count >= (ok ? successThreshold : failureThreshold)) yield { ok, message };
    if (!(await slept(periodSeconds * secondMs, signal))) return;
  }
}

async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  await after(ms, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}
