// The status of a pod as `kubectl get pods` shows it. Source: docs, "Pod Lifecycle", "Debug Init Containers" (pod
// status).
import type { KubeObject } from "../object-store.ts";
import { age } from "./cells.ts";

type State = {
  waiting?: { reason?: string };
  terminated?: { reason?: string; exitCode: number; signal?: number; finishedAt?: string };
  running?: unknown;
};
type ContainerStatus = {
  name: string;
  ready?: boolean;
  started?: boolean;
  restartCount?: number;
  state?: State;
  lastState?: State;
};
type Container = { name: string; restartPolicy?: string };

export const podCells = ({
  metadata,
  spec,
  status,
}: KubeObject): { ready: string; status: string; restarts: string } => {
  const statuses = (status?.containerStatuses ?? []) as ContainerStatus[];
  const initial = (status?.initContainerStatuses ?? []) as ContainerStatus[];
  const sidecars = new Set(
    ((spec?.initContainers ?? []) as Container[])
      .filter(({ restartPolicy }) => restartPolicy === "Always")
      .map(({ name }) => name),
  );
  const waits = initialReason(initial, sidecars, (spec?.initContainers ?? []).length);
  const counted = waits
    ? initial
    : [...statuses, ...initial.filter(({ name }) => sidecars.has(name))];
  const restarts = counted.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const last = counted
    .map(({ lastState }) => lastState?.terminated?.finishedAt ?? "")
    .sort()
    .at(-1);
  const started = [...statuses, ...initial.filter(({ name }) => sidecars.has(name))];
  const ready = started.filter(
    (container) => container.ready === true && container.state?.running,
  ).length;
  const deleted = metadata.deletionTimestamp !== undefined;
  const reason =
    waits ??
    containersReason(
      statuses,
      status?.reason ?? status?.phase ?? "Pending",
      status?.conditions ?? [],
    );
  return {
    ready: `${ready}/${(spec?.containers ?? []).length + sidecars.size}`,
    status: deleted ? "Terminating" : reason,
    restarts: restarts > 0 && last ? `${restarts} (${age(last)} ago)` : String(restarts),
  };
};

const initialReason = (
  statuses: readonly ContainerStatus[],
  sidecars: ReadonlySet<string>,
  count: number,
): string | null => {
  for (const [index, { name, state, started }] of statuses.entries()) {
    if (state?.terminated?.exitCode === 0) continue;
    if (sidecars.has(name) && started) continue;
    if (state?.terminated) return `Init:${terminatedReason(state.terminated)}`;
    const waiting = state?.waiting?.reason;
    if (waiting && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${index}/${count}`;
  }
  return null;
};

const terminatedReason = ({ reason, signal, exitCode }: NonNullable<State["terminated"]>): string =>
  reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);

const containersReason = (
  statuses: readonly ContainerStatus[],
  fallback: string,
  conditions: readonly { type: string; status: string }[],
): string => {
  let reason = fallback;
  let running = false;
  for (const { state, ready } of [...statuses].reverse()) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated) reason = terminatedReason(state.terminated);
    else if (ready && state?.running) running = true;
  }
  if (reason !== "Completed" || !running) return reason;
  return conditions.some(({ type, status }) => type === "Ready" && status === "True")
    ? "Running"
    : "NotReady";
};
