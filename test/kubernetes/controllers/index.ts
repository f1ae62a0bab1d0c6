/** The controllers of a cluster, over one store. Source: docs, "Kubernetes Components" (kube-controller-manager). */
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { ObjectStore } from "../api/object-store.ts";
import { claims } from "./claims.ts";
import { ControllerLoop } from "./controller.ts";
import { deployments } from "./deployments.ts";
import { disruptionBudgets } from "./disruption-budgets.ts";
import { endpoints } from "./endpoints.ts";
import { jobs } from "./jobs.ts";
import { Objects } from "./kinds.ts";
import { replicaSets } from "./replica-sets.ts";
import { statefulSets } from "./stateful-sets.ts";

export type ControllerOptions = {
  readonly store: ObjectStore;
  readonly clock?: Clock;
  /** Hears of failures; the controller tries again. */
  readonly failed?: (controller: string, error: unknown) => void;
};

export function startControllers(options: ControllerOptions): Disposable {
  const { store, clock = systemClock, failed = () => {} } = options;
  const context = { objects: new Objects(store), clock };
  const all = [
    claims(context),
    deployments(context),
    replicaSets(context),
    statefulSets(context),
    jobs(context),
    endpoints(context),
    disruptionBudgets(context),
  ];
  const loops = all.map(
    (one) => new ControllerLoop(one, context, (error) => failed(one.name, error)),
  );
  return {
    [Symbol.dispose]: () => {
      for (const loop of loops) loop[Symbol.dispose]();
    },
  };
}
