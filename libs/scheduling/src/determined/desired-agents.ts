/**
 * The number of agents that Determined starts for waiting tasks, before the limits apply. All waiting slots count, even
 * if existing agents have room for them.
 */
import type { DeterminedAgent, DeterminedJob, DeterminedTask } from "./model.ts";

export type AgentSize = { readonly slotsPerAgent: number; readonly slotlessPerAgent: number };

/**
 * A task counts if it fits on one new agent or fills whole new agents; the tasks of a job count up to its `maxSlots`.
 */
export function determinedNewAgents(
  tasks: readonly Pick<DeterminedTask, "job" | "slots" | "placement">[],
  jobs: ReadonlyMap<string, Pick<DeterminedJob, "maxSlots">>,
  { slotsPerAgent, slotlessPerAgent }: AgentSize,
): number {
  const waiting = tasks.filter(({ placement }) => placement === null);
  const counted = waiting.filter(
    ({ slots }) =>
      slots > 0 && slotsPerAgent > 0 && (slots <= slotsPerAgent || slots % slotsPerAgent === 0),
  );
  let slotted = 0;
  for (const [job, members] of Map.groupBy(counted, (task) => task.job)) {
    const slots = members.reduce((sum, task) => sum + task.slots, 0);
    slotted += Math.min(slots, jobs.get(job)?.maxSlots ?? Number.POSITIVE_INFINITY);
  }
  const slotless = waiting.filter(({ slots }) => slots === 0).length;
  return Math.max(agentsFor(slotless, slotlessPerAgent), agentsFor(slotted, slotsPerAgent));
}

function agentsFor(count: number, perAgent: number): number {
  return perAgent > 0 ? Math.ceil(count / perAgent) : 0;
}

/** Whether autoscaling may terminate an agent: no task runs on it, with or without slots. */
export function isIdleAgent({
  usedSlots,
  slotless,
}: Pick<DeterminedAgent, "usedSlots" | "slotless">): boolean {
  return usedSlots === 0 && slotless === 0;
}

/** The device type that all slots of a pool have; empty if the pool has no slots or several types. */
export function slotTypeOf(types: readonly string[]): string {
  const [first = "", ...others] = new Set(types);
  return others.length === 0 ? first : "";
}
