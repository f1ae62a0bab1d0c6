/** The machines that autoscaling has started, and how long each has been idle or disconnected. */

export type Instance = {
  readonly id: string;
  readonly launchedAtMs: number;
  /** `pending` is a spot request that has no machine yet. */
  readonly state: "pending" | "running" | "stopped";
  /** The state of its agent in the pool; `absent` before the agent joins and while it is disconnected. */
  readonly agent: "absent" | "idle" | "busy";
};

/** The times since which instances are idle or disconnected; each decision passes them to the next. */
export type Marks = {
  readonly idleSinceMs: ReadonlyMap<string, number>;
  readonly disconnectedSinceMs: ReadonlyMap<string, number>;
};

export const noMarks: Marks = { idleSinceMs: new Map(), disconnectedSinceMs: new Map() };

export type InstanceLimits = {
  /** An agent without runs is terminated when it has been idle for longer. */
  readonly idleMs: number;
  /** The time that an agent has to join after its launch. */
  readonly startingMs: number;
  /** An agent that is disconnected, or did not join in time, is terminated after longer than this. */
  readonly disconnectedMs: number;
};

export type Judgement = {
  readonly marks: Marks;
  readonly stopped: readonly string[];
  /** Ids of the launched instances that still have time to join. */
  readonly starting: readonly string[];
  readonly longIdle: readonly string[];
  readonly longDisconnected: readonly string[];
};

export function judgeInstances(
  instances: readonly Instance[],
  marks: Marks,
  limits: InstanceLimits,
  nowMs: number,
): Judgement {
  const idsOf = (wanted: (instance: Instance) => boolean): readonly string[] =>
    instances.filter(wanted).map(({ id }) => id);
  const isAbsent = ({ state, agent }: Instance): boolean =>
    state !== "stopped" && agent === "absent";
  const isStarting = (instance: Instance): boolean =>
    isAbsent(instance) && nowMs - instance.launchedAtMs < limits.startingMs;
  const sinceOf = (
    ids: readonly string[],
    known: ReadonlyMap<string, number>,
  ): ReadonlyMap<string, number> => new Map(ids.map((id) => [id, known.get(id) ?? nowMs]));
  const longer = (since: ReadonlyMap<string, number>, limitMs: number): readonly string[] =>
    [...since].filter(([, atMs]) => nowMs - atMs > limitMs).map(([id]) => id);

  const idleSinceMs = sinceOf(
    idsOf(({ state, agent }) => state !== "stopped" && agent === "idle"),
    marks.idleSinceMs,
  );
  const disconnectedSinceMs = sinceOf(
    idsOf((instance) => isAbsent(instance) && !isStarting(instance)),
    marks.disconnectedSinceMs,
  );
  return {
    marks: { idleSinceMs, disconnectedSinceMs },
    stopped: idsOf(({ state }) => state === "stopped"),
    starting: idsOf(isStarting),
    longIdle: longer(idleSinceMs, limits.idleMs),
    longDisconnected: longer(disconnectedSinceMs, limits.disconnectedMs),
  };
}
