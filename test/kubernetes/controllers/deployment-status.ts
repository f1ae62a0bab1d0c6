/**
 * The status of a Deployment, which `kubectl rollout status` and `helm --wait` read. Source: docs, "Deployments"
 * (Deployment status; progress deadline seconds).
 */
import type { Clock } from "@trainyard/kernel";
import { timeText } from "./controller.ts";
import { availableIn, limitsOf, type Sets, wantedBy } from "./rollout.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "./kinds.ts";
import type { Condition } from "./pod-kinds.ts";
import { conditionIn } from "./pod-facts.ts";

const deadlineSeconds = 600;

type Made = { readonly status: DeploymentStatus; readonly nextMs: number | null };

export function statusOf(sets: Sets, clock: Clock): Made {
  const { deployment, newest, old } = sets;
  const all = [...old, ...(newest === null ? [] : [newest])];
  const sum = (of: (set: ReplicaSet) => number | undefined): number =>
    all.reduce((total, set) => total + (of(set) ?? 0), 0);
  const available = sum(availableIn);
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: sum(({ status }) => status?.replicas),
    updatedReplicas: newest?.status?.replicas ?? 0,
    readyReplicas: sum(({ status }) => status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sum(wantedBy) - available),
  };
  const { collisionCount } = deployment.status ?? {};
  const progress = progressing(sets, counts, clock);
  const failure = all.flatMap(
    ({ status }) => conditionIn(status?.conditions, "ReplicaFailure") ?? [],
  );
  const conditions = [
    availability(deployment, available, clock),
    ...progress.conditions,
    ...failure.slice(0, 1),
  ];
  return {
    status: { ...counts, ...(collisionCount === undefined ? {} : { collisionCount }), conditions },
    nextMs: progress.nextMs,
  };
}

function availability(deployment: Deployment, available: number, clock: Clock): Condition {
  const { replicas = 1 } = deployment.spec;
  const isEnough = available >= replicas - limitsOf(deployment).unavailable;
  return conditionOf(deployment, clock, {
    type: "Available",
    status: isEnough ? "True" : "False",
    reason: isEnough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
    message: `Deployment ${isEnough ? "has" : "does not have"} minimum availability.`,
  });
}

/** The time of an update moves with each sign of progress; the deadline counts from it. */
function progressing(
  { deployment, newest }: Sets,
  counts: DeploymentStatus,
  clock: Clock,
): { readonly conditions: readonly Condition[]; readonly nextMs: number | null } {
  const { spec, status: before = {} } = deployment;
  const seconds = spec.progressDeadlineSeconds ?? deadlineSeconds;
  const old = conditionIn(before.conditions, "Progressing");
  const made = (status: "True" | "False", reason: string, verb: string): Condition =>
    conditionOf(deployment, clock, {
      type: "Progressing",
      status,
      reason,
      message: `ReplicaSet "${newest?.metadata.name ?? ""}" ${verb}.`,
    });
  if (newest === null) return { conditions: old === undefined ? [] : [old], nextMs: null };
  if (spec.paused === true && old === undefined) return { conditions: [], nextMs: null };
  if (isComplete(spec.replicas ?? 1, counts)) {
    return {
      conditions: [made("True", "NewReplicaSetAvailable", "has successfully progressed")],
      nextMs: null,
    };
  }
  const current = made("True", "ReplicaSetUpdated", "is progressing");
  // A rollout that has ended stays so while pods are lost or the Deployment is scaled.
  const hasOnlyNew = counts.replicas === counts.updatedReplicas;
  if (old?.reason === "NewReplicaSetAvailable" && hasOnlyNew) {
    return { conditions: [old], nextMs: null };
  }
  if (old === undefined || hasMoved(before, counts) || !isAbout(old, newest)) {
    return { conditions: [updated(current, clock)], nextMs: seconds * 1_000 };
  }
  if (old.reason === "ProgressDeadlineExceeded") return { conditions: [old], nextMs: null };
  const leftMs = Date.parse(old.lastUpdateTime ?? "") + seconds * 1_000 - clock.nowMs();
  if (leftMs > 0 || spec.paused === true) return { conditions: [old], nextMs: Math.max(1, leftMs) };
  return {
    conditions: [made("False", "ProgressDeadlineExceeded", "has timed out progressing")],
    nextMs: null,
  };
}

function isAbout({ message = "" }: Condition, { metadata }: ReplicaSet): boolean {
  return message.startsWith(`ReplicaSet "${metadata.name}" `);
}

export function isComplete(replicas: number, counts: DeploymentStatus): boolean {
  return (
    counts.updatedReplicas === replicas &&
    counts.replicas === replicas &&
    counts.availableReplicas === replicas
  );
}

function hasMoved(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const oldCount = (counts: DeploymentStatus): number =>
    (counts.replicas ?? 0) - (counts.updatedReplicas ?? 0);
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldCount(now) < oldCount(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function updated(condition: Condition, clock: Clock): Condition {
  return { ...condition, lastUpdateTime: timeText(clock) };
}

/** Keeps the times of an equal condition. */
function conditionOf(deployment: Deployment, clock: Clock, made: Condition): Condition {
  const now = timeText(clock);
  const old = conditionIn(deployment.status?.conditions, made.type);
  const isSame =
    old?.status === made.status && old.reason === made.reason && old.message === made.message;
  const lastUpdateTime = isSame ? (old.lastUpdateTime ?? now) : now;
  const changed = old?.status === made.status ? (old.lastTransitionTime ?? now) : now;
  return { ...made, lastUpdateTime, lastTransitionTime: changed };
}
