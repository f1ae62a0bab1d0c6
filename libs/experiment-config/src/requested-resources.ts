import type { LabelRules } from "./sections/constraints.ts";
import type { NormalisedConfig } from "./config.ts";

type LabelRule = { readonly label: string; readonly values: string[] };

/** The resources that every run of an experiment requests, in the form of the message `Resources`. */
export type RequestedResources = {
  readonly pool: string;
  readonly slots: number;
  /** 0 for the pool's default. */
  readonly priority: number;
  readonly weight: number;
  readonly singleAgent: boolean;
  readonly maxSlots?: number;
  readonly timeLimitMs?: number;
  readonly preemptionTimeoutMs: number;
  readonly constraints?: {
    readonly device: string;
    readonly deviceMemoryBytes: number;
    readonly required: LabelRule[];
    readonly preferred: LabelRule[];
    readonly forbidden: LabelRule[];
    readonly excludedAgents: string[];
    readonly sameLabel: string;
  };
};

export function requestedResources({
  resources,
  preemption_timeout,
}: Pick<NormalisedConfig, "resources" | "preemption_timeout">): RequestedResources {
  const { max_slots, time_limit, constraints } = resources;
  return {
    pool: resources.resource_pool,
    slots: resources.slots_per_trial,
    priority: resources.priority ?? 0,
    weight: resources.weight,
    singleAgent: resources.is_single_node,
    ...(max_slots === null ? {} : { maxSlots: max_slots }),
    ...(time_limit === null ? {} : { timeLimitMs: time_limit * 1_000 }),
    preemptionTimeoutMs: preemption_timeout * 1_000,
    ...(constraints === undefined
      ? {}
      : {
          constraints: {
            device: constraints.device,
            deviceMemoryBytes: constraints.device_memory,
            required: rulesOf(constraints.require),
            preferred: rulesOf(constraints.prefer),
            forbidden: rulesOf(constraints.forbid),
            excludedAgents: [...constraints.exclude_agents],
            sameLabel: constraints.same_label,
          },
        }),
  };
}

function rulesOf(rules: LabelRules): LabelRule[] {
  return Object.entries(rules).map(([label, values]) => ({ label, values: [...values] }));
}

type Rules = readonly { readonly label: string; readonly values: readonly string[] }[];

type Constraints = {
  readonly device: string;
  readonly deviceMemoryBytes: number;
  readonly required: Rules;
  readonly preferred: Rules;
  readonly forbidden: Rules;
  readonly excludedAgents: readonly string[];
  readonly sameLabel: string;
};

/** Returns the resources for a run that is not placed on these agents. */
export function withoutAgents<Asked extends { readonly constraints?: Constraints | undefined }>(
  resources: Asked,
  agents: readonly string[],
): Asked {
  if (agents.length === 0) return resources;
  const { constraints = unconstrained } = resources;
  const excludedAgents = [...new Set([...constraints.excludedAgents, ...agents])];
  return { ...resources, constraints: { ...constraints, excludedAgents } };
}

const unconstrained: Constraints = {
  ...{ device: "", deviceMemoryBytes: 0, sameLabel: "" },
  ...{ required: [], preferred: [], forbidden: [], excludedAgents: [] },
};
