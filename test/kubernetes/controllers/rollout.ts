/** The ReplicaSets of a Deployment, and how many pods a rollout may add and lack. */
import type { Deployment, ReplicaSet } from "./kinds.ts";
import { amountOf } from "./pod-facts.ts";

export type Sets = {
  readonly deployment: Deployment;
  /** The ReplicaSet of the template; null before it is made. */
  readonly newest: ReplicaSet | null;
  /** From the oldest to the youngest. */
  readonly old: readonly ReplicaSet[];
};

/** Percentages are of `replicas`; both limits cannot be 0. */
export function limitsOf({ spec }: Deployment): { surge: number; unavailable: number } {
  const { replicas = 1, strategy: { type, rollingUpdate = {} } = {} } = spec;
  if (type === "Recreate") return { surge: 0, unavailable: replicas };
  const surge = amountOf(rollingUpdate.maxSurge ?? "25%", replicas, "up");
  const lacking = amountOf(rollingUpdate.maxUnavailable ?? "25%", replicas, "down");
  const unavailable = surge === 0 && lacking === 0 ? 1 : lacking;
  return { surge, unavailable: Math.min(unavailable, replicas) };
}

export function wantedBy({ spec }: ReplicaSet): number {
  return spec.replicas ?? 1;
}

export function availableIn({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}
