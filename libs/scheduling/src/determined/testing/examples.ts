import type { DeterminedAgent, DeterminedJob, DeterminedTask, Queue } from "../model.ts";

/** An empty agent of four slots. */
export const exampleAgent: DeterminedAgent = {
  id: "a",
  slots: 4,
  usedSlots: 0,
  slotlessMax: 0,
  slotless: 0,
  takesWork: true,
};

/** A waiting preemptible task of one slot. */
export const exampleTask: DeterminedTask = {
  id: "t",
  job: "j",
  slots: 1,
  preemptible: true,
  singleAgent: false,
  blockedAgents: [],
  jobSubmitted: 0,
  requested: 0,
  placement: null,
};

export const exampleJob: DeterminedJob = { priority: 42, weight: 1, maxSlots: null };

export type TaskLike = Partial<DeterminedTask> & { readonly id: string };

/** Builds a queue from agents by their sizes and tasks in order of submission; slots of placed tasks are in use. */
export function exampleQueue(
  agents: Readonly<Record<string, number | Partial<DeterminedAgent>>>,
  tasks: readonly TaskLike[],
  jobs: Readonly<Record<string, Partial<DeterminedJob>>> = { j: {} },
  positions: Readonly<Record<string, number>> = {},
): Queue {
  const submitted = tasks.map((task, requested) => ({ ...exampleTask, requested, ...task }));
  const parts = submitted.flatMap(({ placement }) => placement ?? []);
  return {
    agents: Object.entries(agents).map(([id, given]) => {
      const held = parts.filter(({ agent }) => agent === id);
      return {
        ...exampleAgent,
        id,
        usedSlots: held.reduce((sum, { slots }) => sum + slots, 0),
        slotless: held.filter(({ slots }) => slots === 0).length,
        ...(typeof given === "number" ? { slots: given } : given),
      };
    }),
    tasks: submitted,
    jobs: new Map(Object.entries(jobs).map(([id, job]) => [id, { ...exampleJob, ...job }])),
    positions: new Map(Object.entries(positions)),
  };
}

/** Builds a placement from agents and their numbers of slots. */
export const on = (parts: Readonly<Record<string, number>>): DeterminedTask["placement"] =>
  Object.entries(parts).map(([agent, slots]) => ({ agent, slots }));
