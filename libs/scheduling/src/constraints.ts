import type { Offer, Slot } from "./offer.ts";

/** Conditions on the agents and devices of a run; each of its agents must meet all of them. */
export type Constraints = {
  /** A device kind: `cpu`, `cuda` or `rocm`; empty for any. */
  readonly device: string;
  /** The least memory of each device. */
  readonly deviceMemoryBytes: number;
  readonly required: readonly LabelRule[];
  /** Labels that the run prefers: agents with more of them are taken first. */
  readonly preferred: readonly LabelRule[];
  readonly forbidden: readonly LabelRule[];
  readonly excludedAgents: readonly string[];
  /**
   * All agents of the run must have the same value of this label; empty for no such condition. A run on one agent
   * always meets the condition. An agent without the label cannot share a run.
   */
  readonly sameLabel: string;
};

export type LabelRule = {
  readonly label: string;
  /** The accepted values; an empty list accepts any value. */
  readonly values: readonly string[];
};

/** The conditions that one agent alone must meet: they decide whether it is in a view, and with which of its slots. */
export type Conditions = Omit<Constraints, "excludedAgents"> & {
  /** A text that is equal for equal conditions; empty if there are none. */
  readonly key: string;
};

/** The requirements of one run's constraints on agents, by kind. */
export type ConditionSet = {
  /** The conditions for an agent that holds the whole run. */
  readonly alone: Conditions;
  /** The conditions for agents that share the run: grouped by `sameLabel`. */
  readonly together: Conditions;
  /** The conditions for the agent of a run without slots, which has no devices. */
  readonly slotless: Conditions;
  /** A text that is equal for equal constraints, excluded agents included. */
  readonly shape: string;
};

const nothing = { device: "", deviceMemoryBytes: 0, required: [], preferred: [], forbidden: [] };
export const noConditions: Conditions = { ...nothing, sameLabel: "", key: "" };
const unconstrained: ConditionSet = {
  alone: noConditions,
  together: noConditions,
  slotless: noConditions,
  shape: "",
};

export function conditionsOf(constraints: Constraints | undefined): ConditionSet {
  if (constraints === undefined) return unconstrained;
  const { excludedAgents, ...rest } = constraints;
  const { device, deviceMemoryBytes, sameLabel, required, preferred, forbidden } = rest;
  const hasRules = required.length > 0 || preferred.length > 0 || forbidden.length > 0;
  const rules = hasRules ? JSON.stringify([required, preferred, forbidden]) : "";
  const devices = device !== "" || deviceMemoryBytes > 0 ? `${device} ${deviceMemoryBytes}` : "";
  const own = devices === "" ? rules : `${devices}\n${rules}`;
  const key = sameLabel === "" ? own : `${own}\n\n${sameLabel}`;
  const excluded = excludedAgents.length === 0 ? "" : `\n\n\n${JSON.stringify(excludedAgents)}`;
  return {
    alone: { ...rest, sameLabel: "", key: own },
    together: { ...rest, key },
    slotless: { ...rest, device: "", deviceMemoryBytes: 0, sameLabel: "", key: rules },
    shape: `${key}${excluded}`,
  };
}

export function admitsAgent({ required, forbidden }: Conditions, labels: Offer["labels"]): boolean {
  return (
    required.every((rule) => isMet(rule, labels)) && !forbidden.some((rule) => isMet(rule, labels))
  );
}

/** Whether the conditions admit single slots of an agent by their device. */
export function asksForDevices({ device, deviceMemoryBytes }: Conditions): boolean {
  return device !== "" || deviceMemoryBytes > 0;
}

export function admitsSlot(
  { device, deviceMemoryBytes }: Conditions,
  { device: kind, memoryBytes }: Slot,
): boolean {
  return (device === "" || device === kind) && memoryBytes >= deviceMemoryBytes;
}

/** Returns the number of preferred labels that an agent has. */
export function preferenceOf({ preferred }: Conditions, labels: Offer["labels"]): number {
  let met = 0;
  for (const rule of preferred) if (isMet(rule, labels)) met += 1;
  return met;
}

export function isMet({ label, values }: LabelRule, labels: Offer["labels"]): boolean {
  if (!Object.hasOwn(labels, label)) return false;
  return values.length === 0 || values.includes(labels[label] as string);
}
