/** A pool from a case of Determined's schedulers, scheduled by Determined's rules. */
import type { JsonObject } from "@trainyard/experiment-config";
import {
  type Decision,
  type DeterminedAgent,
  type DeterminedTask,
  fairShareSchedule,
  type FitRules,
  type JobInfo,
  jobQueue,
  jobStats,
  type Part,
  prioritySchedule,
  type Queue,
  type Start,
} from "@trainyard/scheduling/determined";
import type { Case } from "./case-file.ts";
import { type Fields, mappings, numberOr, texts } from "./read-case.ts";

export function agentOf(agent: JsonObject): DeterminedAgent {
  return {
    id: String(agent["id"]),
    slots: Number(agent["slots"]),
    usedSlots: numberOr(agent["slots_used"], 0),
    slotlessMax: numberOr(agent["max_zero_slot_containers"], 0),
    slotless: numberOr(agent["zero_slot_containers"], 0),
    takesWork: true,
  };
}

export function fitRulesOf(one: Fields): FitRules {
  return {
    policy: one["fitting_policy"] === "worst" ? "worst" : "best",
    heterogeneous: one["allow_heterogeneous_fits"] === true,
  };
}

/** `requested` is the task's place in the order of submission. */
function taskOf(task: JsonObject, requested: number): DeterminedTask {
  const { allocated_on: agent, occupies_slots: occupies } = task;
  const slots = Number(task["slots"]);
  const held: Part[] = occupies === true ? [{ agent: String(agent), slots }] : [];
  return {
    id: String(task["id"]),
    job: String(task["job"]),
    slots,
    preemptible: task["preemptible"] === true,
    singleAgent: task["single_agent"] === true,
    blockedAgents: texts(task["blocked_nodes"]),
    jobSubmitted: 0,
    requested,
    placement: (agent ?? null) === null ? null : held,
  };
}

export class ScheduledPool {
  readonly #policy: "priority" | "fair_share";
  readonly #preemption: boolean;
  readonly #rules: FitRules;
  readonly #jobs: Queue["jobs"];
  #agents: readonly DeterminedAgent[];
  #tasks: readonly DeterminedTask[] = [];
  #positions: Queue["positions"] = new Map();
  #submitted = 0;
  #starts: readonly Start[] = [];

  constructor(one: Case) {
    this.#policy = one["scheduler"] === "fair_share" ? "fair_share" : "priority";
    this.#preemption = one["preemption"] === true;
    this.#rules = fitRulesOf(one);
    this.#agents = mappings(one["agents"]).map(agentOf);
    this.#jobs = new Map(
      mappings(one["groups"]).map(({ id, priority, weight, max_slots }) => [
        String(id),
        {
          priority: typeof priority === "number" ? priority : null,
          weight: numberOr(weight, 0),
          maxSlots: typeof max_slots === "number" ? max_slots : null,
        },
      ]),
    );
    this.submit(mappings(one["tasks"]));
  }

  get queue(): Queue {
    return {
      agents: this.#agents,
      tasks: this.#tasks,
      jobs: this.#jobs,
      positions: this.#positions,
    };
  }

  setPositions(positions: JsonObject): void {
    this.#positions = new Map(
      Object.entries(positions).map(([job, position]) => [job, Number(position)]),
    );
  }

  submit(tasks: readonly JsonObject[]): void {
    for (const task of tasks) {
      this.#submitted += 1;
      const submitted = taskOf(task, this.#submitted);
      this.#tasks = [...this.#tasks, submitted];
      this.#hold(submitted.placement ?? [], 1);
    }
  }

  schedule(): Decision {
    const decision =
      this.#policy === "fair_share"
        ? fairShareSchedule(this.queue, this.#rules)
        : prioritySchedule(this.queue, { ...this.#rules, preemption: this.#preemption });
    this.#starts = decision.starts;
    return decision;
  }

  /** Gives the runs that the last pass has started their slots. */
  apply(): void {
    for (const { task, parts } of this.#starts) {
      this.#tasks = this.#tasks.map((one) =>
        one.id === task ? { ...one, placement: parts } : one,
      );
      this.#hold(parts, 1);
    }
    this.#starts = [];
  }

  finish(ids: readonly string[]): void {
    for (const { id, placement } of this.#tasks) {
      if (ids.includes(id)) this.#hold(placement ?? [], -1);
    }
    this.#tasks = this.#tasks.filter(({ id }) => !ids.includes(id));
  }

  get jobs(): readonly JobInfo[] {
    return jobQueue(this.queue, this.#policy);
  }

  get stats(): ReturnType<typeof jobStats> {
    return jobStats(this.#tasks);
  }

  #hold(parts: readonly Part[], sign: 1 | -1): void {
    this.#agents = this.#agents.map((agent) => {
      const held = parts.filter((part) => part.agent === agent.id);
      const slots = held.reduce((sum, part) => sum + part.slots, 0);
      const slotless = held.filter((part) => part.slots === 0).length;
      return {
        ...agent,
        usedSlots: agent.usedSlots + sign * slots,
        slotless: agent.slotless + sign * slotless,
      };
    });
  }
}
