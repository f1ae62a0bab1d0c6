/**
 * When a Job has succeeded or failed. Source: docs, "Jobs" (pod backoff failure policy; completion modes; deadlines).
 */
import type { Job, Pod } from "./kinds.ts";
import { conditionIn } from "./pod-facts.ts";

export type Verdict = { readonly ok: boolean; readonly reason: string; readonly message: string };

const backOffMs = { first: 10_000, longest: 600_000 };

export function verdictOf(job: Job, pods: readonly Pod[], nowMs: number): Verdict | null {
  const { completions = 1, backoffLimit = 6, activeDeadlineSeconds, template } = job.spec;
  const said = conditionIn(job.status?.conditions, "FailureTarget");
  if (said !== undefined)
    return { ok: false, reason: said.reason ?? "", message: said.message ?? "" };
  const succeeded = pods.filter(({ status }) => status?.phase === "Succeeded").length;
  if (succeeded >= completions) {
    const message = "Reached expected number of succeeded pods";
    return { ok: true, reason: "CompletionsReached", message };
  }
  const restarts = template.spec.restartPolicy === "OnFailure" ? restartsOf(pods) : 0;
  if (failuresOf(pods).length > backoffLimit || restarts > backoffLimit) {
    const message = "Job has reached the specified backoff limit";
    return { ok: false, reason: "BackoffLimitExceeded", message };
  }
  const startMs = Date.parse(job.status?.startTime ?? "");
  if (activeDeadlineSeconds !== undefined && nowMs >= startMs + activeDeadlineSeconds * 1_000) {
    const message = "Job was active longer than specified deadline";
    return { ok: false, reason: "DeadlineExceeded", message };
  }
  return null;
}

export function failuresOf(pods: readonly Pod[]): readonly Pod[] {
  return pods.filter(({ status }) => status?.phase === "Failed");
}

function restartsOf(pods: readonly Pod[]): number {
  const all = pods.flatMap(({ status }) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ]);
  return all.reduce((sum, { restartCount }) => sum + restartCount, 0);
}

/** Returns how long the next pod waits: 10 s after the first failure, and twice as long after each further one. */
export function backOffLeftMs(failed: readonly Pod[], nowMs: number): number {
  if (failed.length === 0) return 0;
  const waitMs = Math.min(backOffMs.first * 2 ** (failed.length - 1), backOffMs.longest);
  return Math.max(0, Math.max(...failed.map(endedMs)) + waitMs - nowMs);
}

function endedMs({ status, metadata }: Pod): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) =>
    Date.parse(state.terminated?.finishedAt ?? metadata.creationTimestamp ?? ""),
  );
  return Math.max(Date.parse(metadata.creationTimestamp ?? ""), ...ends);
}
