/**
 * The status of a pod from those of its containers. Source: docs, "Pod Lifecycle" (phases, conditions, container
 * states), "Configure Quality of Service for Pods".
 */
import type { Pod } from "../controllers/kinds.ts";
import type { Condition, Container, ContainerStatus, PodStatus } from "../controllers/pod-kinds.ts";

export type Surroundings = {
  readonly podIP: string | null;
  readonly hostIP: string;
  readonly startedAt: string;
  readonly now: string;
  /** The reason why the node ended the pod. */
  readonly failure?: { readonly reason: string; readonly message: string } | null;
};

export function podStatus(
  pod: Pod,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
  { podIP, hostIP, startedAt, now, failure = null }: Surroundings,
): PodStatus {
  const isQuiet = [...init, ...main].every(({ state }) => state.running === undefined);
  const phase = failure !== null && isQuiet ? "Failed" : phaseOf(pod, init, main);
  const address = podIP === null ? {} : { podIP, podIPs: [{ ip: podIP }] };
  return {
    phase,
    ...(phase === "Failed" ? failure : {}),
    conditions: conditionsOf(pod, phase, init, main, podIP !== null, now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...address,
    startTime: startedAt,
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: main,
    qosClass: qosClass([...(pod.spec.initContainers ?? []), ...pod.spec.containers]),
  };
}

/** A container that has ended counts as running while it will be restarted. A deleted pod restarts none. */
function phaseOf(
  { spec: { restartPolicy = "Always" }, metadata: { deletionTimestamp } }: Pod,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
): string {
  const codes = main.map(({ state }) => state.terminated?.exitCode ?? null);
  const failedFirst = init.some(({ state: { terminated } }) => (terminated?.exitCode ?? 0) !== 0);
  if (failedFirst && restartPolicy === "Never") return "Failed";
  if (init.some(({ state }) => state.terminated?.exitCode !== 0)) return "Pending";
  const isOver = codes.every((code) => code !== null);
  const hasEnd = deletionTimestamp !== undefined || restartPolicy !== "Always";
  if (isOver && hasEnd && codes.every((code) => code === 0)) return "Succeeded";
  if (isOver && (deletionTimestamp !== undefined || restartPolicy === "Never")) return "Failed";
  const begun = main.some(({ state, lastState }) => !state.waiting || lastState.terminated);
  const created = main.every(({ state, lastState }) => !state.waiting || lastState.terminated);
  return begun && created ? "Running" : "Pending";
}

function conditionsOf(
  pod: Pod,
  phase: string,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
  hasNetwork: boolean,
  now: string,
): readonly Condition[] {
  const isDone = phase === "Succeeded" || phase === "Failed";
  const incomplete = init.filter(({ state }) => state.terminated?.exitCode !== 0);
  const unready = main.filter(({ ready }) => !ready);
  const notInitialized = `containers with incomplete status: [${names(incomplete)}]`;
  const notReady = `containers with unready status: [${names(unready)}]`;
  const gates = (pod.spec["readinessGates"] ?? []) as readonly { conditionType: string }[];
  const old = pod.status?.conditions ?? [];
  const closed = gates.filter(
    ({ conditionType: of }) => old.find(({ type }) => type === of)?.status !== "True",
  );
  const done = { Succeeded: "PodCompleted", Failed: "PodFailed" }[phase];
  const containers =
    unready.length === 0 && !isDone
      ? condition("ContainersReady")
      : condition("ContainersReady", done ?? "ContainersNotReady", done ? undefined : notReady);
  const ready =
    containers.status === "True" && closed.length > 0
      ? condition("Ready", "ReadinessGatesNotReady", gateText(closed[0]?.conditionType ?? ""))
      : { ...containers, type: "Ready" };
  const made = [
    condition("PodReadyToStartContainers", hasNetwork && !isDone ? undefined : ""),
    incomplete.length === 0 || phase === "Succeeded"
      ? condition("Initialized", undefined, undefined, done === "PodCompleted" ? done : undefined)
      : condition("Initialized", "ContainersNotInitialized", notInitialized),
    ready,
    containers,
    condition("PodScheduled"),
  ];
  const own = new Set(made.map(({ type }) => type));
  return [...made.map((one) => dated(one, old, now)), ...old.filter(({ type }) => !own.has(type))];
}

function gateText(type: string): string {
  return `corresponding condition of pod readiness gate "${type}" does not exist.`;
}

/** A condition is true without a reason against it; an empty reason is not shown. */
function condition(type: string, against?: string, message?: string, reason?: string): Condition {
  const why = against || reason;
  return {
    type,
    status: against === undefined ? "True" : "False",
    lastProbeTime: null,
    ...(why ? { reason: why } : {}),
    ...(message === undefined ? {} : { message }),
  };
}

/** The time of a condition is that of its last change of status. */
export function dated(made: Condition, old: readonly Condition[], now: string): Condition {
  const before = old.find(({ type }) => type === made.type);
  const at = before?.status === made.status ? (before.lastTransitionTime ?? now) : now;
  return { ...made, lastTransitionTime: at };
}

function names(statuses: readonly ContainerStatus[]): string {
  return statuses.map(({ name }) => name).join(" ");
}

/** Limits alone are requests, too. */
function qosClass(containers: readonly Container[]): string {
  const counted = ["cpu", "memory"];
  const all = containers.map(({ resources: { limits = {}, requests = {} } = {} }) => ({
    limits,
    requests: { ...limits, ...requests },
  }));
  const has = (map: Readonly<Record<string, string>>): boolean =>
    counted.some((name) => map[name] !== undefined);
  if (!all.some(({ requests }) => has(requests))) return "BestEffort";
  const isGuaranteed = all.every(({ limits, requests }) =>
    counted.every((name) => limits[name] !== undefined && limits[name] === requests[name]),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}
