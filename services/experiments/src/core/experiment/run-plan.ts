import type { EventData } from "@trainyard/contracts";
import type { RunPlan } from "./state.ts";

type Json = EventData<"ExperimentCreated">["config"];

/** Before an experiment is created, and what a configuration of another shape reads as. */
export const emptyPlan: RunPlan = {
  resources: { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: false },
  maxRestarts: 5,
};

/** Reads the normalised configuration. Total: a fold must take whatever was once accepted. */
export function runPlan(config: Json): RunPlan {
  const resources = section(config, "resources");
  return {
    resources: {
      pool: text(resources, "resource_pool") || emptyPlan.resources.pool,
      slots: count(resources, "slots_per_trial", emptyPlan.resources.slots),
      priority: count(resources, "priority", emptyPlan.resources.priority),
      weight: emptyPlan.resources.weight,
      singleAgent: emptyPlan.resources.singleAgent,
    },
    maxRestarts: count(config, "max_restarts", emptyPlan.maxRestarts),
  };
}

/** The text at a key; empty when there is none. */
export function text(json: Json | undefined, key: string): string {
  const value = json?.[key];
  return typeof value === "string" ? value : "";
}

export function texts(json: Json | undefined, key: string): readonly string[] {
  const value = json?.[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function section(json: Json | undefined, key: string): Json | undefined {
  const value = json?.[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

function count(json: Json | undefined, key: string, otherwise: number): number {
  const value = json?.[key];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : otherwise;
}
