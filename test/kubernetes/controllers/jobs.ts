/**
 * Runs a Job's pods until enough have succeeded. A failed pod is made again, each time after a longer wait, until the
 * back-off limit; a deadline ends all pods. A Job that has ended may be deleted after its time. Source: docs, "Jobs"
 * (pod backoff failure policy, job termination and cleanup, success and failure conditions, TTL mechanism), "Automatic
 * Cleanup for Finished Jobs"; KEP-3998 and KEP-3329 (SuccessCriteriaMet, FailureTarget). The finalizer of job tracking
 * is left out: a pod that is deleted by others is not counted.
 */
import {
  type Controller,
  type ControllerContext,
  type Key,
  ownerKeys,
  soonest,
  timeText,
} from "./controller.ts";
import { backOffLeftMs, failuresOf, verdictOf, type Verdict } from "./job-verdict.ts";
import type { Job, JobStatus, Objects, Pod } from "./kinds.ts";
import type { Condition } from "./pod-kinds.ts";
import { uidOf } from "./kinds.ts";
import { controllerOf } from "./controller.ts";
import { conditionIn, isActive, isDeleted, isOver, isReady, podOf } from "./pod-facts.ts";

export function jobs(context: ControllerContext): Controller {
  return {
    name: "job-controller",
    plural: "jobs",
    reads: { pods: ownerKeys("Job") },
    reconcile: (key) => reconcile(key, context),
  };
}

function reconcile({ namespace, name }: Key, context: ControllerContext): number | null {
  const { objects, clock } = context;
  const job = objects.get("jobs", namespace, name);
  if (job === null || isDeleted(job)) return null;
  const ended = endOf(job);
  if (ended !== null) return cleanUp(objects, job, ended, clock.nowMs());
  const pods = podsOf(objects, job);
  const suspended = job.spec.suspend === true;
  const startTime = job.status?.startTime ?? (suspended ? undefined : timeText(clock));
  const started = { ...job, status: { ...job.status, ...(startTime && { startTime }) } };
  const verdict = verdictOf(started, pods, clock.nowMs());
  const active = pods.filter(isActive);
  let nextMs: number | null = null;
  if (verdict !== null || suspended) for (const pod of active) objects.delete("pods", pod);
  else
    nextMs = soonest(
      grow(objects, job, pods, clock.nowMs()),
      deadlineLeftMs(started, clock.nowMs()),
    );
  const after = objects.get("jobs", namespace, name);
  if (after === null) return null;
  const now = podsOf(objects, job);
  const { active: _, ...kept } = started.status;
  const base = { ...kept, ...countsOf(now) };
  objects.updateStatus("jobs", {
    ...after,
    status: withVerdict(base, verdict, now, timeText(clock)),
  });
  return nextMs;
}

function podsOf(objects: Objects, job: Job): readonly Pod[] {
  return objects
    .list("pods", job.metadata.namespace ?? "")
    .filter((pod) => controllerOf(pod)?.uid === uidOf(job));
}

function countsOf(pods: readonly Pod[]): JobStatus {
  const active = pods.filter(isActive);
  const phase = (name: string): number =>
    pods.filter(({ status }) => status?.phase === name).length;
  const [succeeded, failed] = [phase("Succeeded"), phase("Failed")];
  const terminating = pods.filter((pod) => isDeleted(pod) && !isOver(pod)).length;
  return {
    ...(active.length === 0 ? {} : { active: active.length }),
    ...(succeeded === 0 ? {} : { succeeded }),
    ...(failed === 0 ? {} : { failed }),
    ready: active.filter(isReady).length,
    terminating,
    uncountedTerminatedPods: {},
  };
}

/** The condition of the end follows that of the reason, when no pod runs any more. */
function withVerdict(
  { active, ...rest }: JobStatus,
  verdict: Verdict | null,
  pods: readonly Pod[],
  now: string,
): JobStatus {
  const counts = { ...rest, ...(active === undefined ? {} : { active }) };
  if (verdict === null) return counts;
  const { ok, reason, message } = verdict;
  const old = rest.conditions ?? [];
  const made = (type: string): Condition =>
    conditionIn(old, type) ?? {
      type,
      status: "True",
      reason,
      message,
      lastProbeTime: now,
      lastTransitionTime: now,
    };
  const isQuiet = pods.every(isOver);
  const first = made(ok ? "SuccessCriteriaMet" : "FailureTarget");
  if (!isQuiet) return { ...counts, conditions: [first] };
  const conditions = [first, made(ok ? "Complete" : "Failed")];
  return { ...counts, conditions, ...(ok ? { completionTime: now } : {}) };
}

/** Makes the pods that are lacking. Returns the wait that the last failure asks for. */
function grow(objects: Objects, job: Job, pods: readonly Pod[], nowMs: number): number | null {
  const { completions = 1, parallelism = 1, template } = job.spec;
  const succeeded = pods.filter(({ status }) => status?.phase === "Succeeded").length;
  const running = pods.filter((pod) => !isOver(pod)).length;
  const wanted = Math.min(parallelism, completions - succeeded) - running;
  if (wanted <= 0) return null;
  const leftMs = backOffLeftMs(failuresOf(pods), nowMs);
  if (leftMs > 0) return leftMs;
  const { name, uid = "" } = job.metadata;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  for (let made = 0; made < wanted; made += 1) {
    objects.create("pods", podOf(template, job, { name: "", generateName: `${name}-` }, labels));
  }
  return null;
}

function deadlineLeftMs({ spec, status }: Job, nowMs: number): number | null {
  const { activeDeadlineSeconds: seconds } = spec;
  if (seconds === undefined || status?.startTime === undefined) return null;
  return Math.max(1, Date.parse(status.startTime) + seconds * 1_000 - nowMs);
}

/** Returns the time at which a Job ended; null while it has not. */
function endOf({ status }: Job): string | null {
  const end = ["Complete", "Failed"].map((type) => conditionIn(status?.conditions, type));
  return end.find((one) => one?.status === "True")?.lastTransitionTime ?? null;
}

function cleanUp(objects: Objects, job: Job, ended: string, nowMs: number): number | null {
  const { ttlSecondsAfterFinished: seconds } = job.spec;
  if (seconds === undefined) return null;
  const leftMs = Date.parse(ended) + seconds * 1_000 - nowMs;
  if (leftMs > 0) return leftMs;
  objects.delete("jobs", job);
  return null;
}
