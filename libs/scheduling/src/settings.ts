/** The scheduling settings of a pool: those of `PoolConfigured`, with every default filled in. */
import { schedulingLimits } from "./limits.ts";

export const policyNames = ["priority", "fair_share", "round_robin"] as const;
export type PolicyName = (typeof policyNames)[number];
export const compatNames = ["", "determined"] as const;
export const backfillNames = ["reserved", "any", "none"] as const;
export const fitNames = ["pack", "spread"] as const;

export type Quota = {
  readonly workspace: string;
  readonly slots: number;
  /** Whether preemptible runs of the workspace may exceed the quota while others do not need the slots. */
  readonly borrow: boolean;
};

export type PoolSettings = {
  readonly policy: PolicyName;
  readonly description: string;
  /** The rules of queue, preemption and placement: `determined` for Determined's, empty for Trainyard's. */
  readonly compat: (typeof compatNames)[number];
  readonly preemption: boolean;
  /** The runs that may pass the first run while it has no room: those beside its reservation, any, or none. */
  readonly backfill: (typeof backfillNames)[number];
  /** `pack` takes the agent with the fewest free slots that suffice, `spread` the one with the most. */
  readonly fit: (typeof fitNames)[number];
  /** The period after which a waiting run improves by one priority; 0 for never. */
  readonly ageingMs: number;
  readonly quotas: readonly Quota[];
  readonly defaultPriority: number;
  readonly slotlessPerAgent: number;
  /** The time after its start for which a run makes no room for others, unless it has made a new checkpoint. */
  readonly preemptExemptMs: number;
  /** The idle_timeout of tasks whose configuration sets none; 0 for never. Absent for the cluster's. */
  readonly idleTimeoutMs?: number;
};

export const defaultSettings: PoolSettings = {
  policy: "priority",
  description: "",
  compat: "",
  preemption: false,
  backfill: "reserved",
  fit: "pack",
  ageingMs: 0,
  quotas: [],
  defaultPriority: 42,
  slotlessPerAgent: schedulingLimits.slotlessPerAgentMax,
  preemptExemptMs: schedulingLimits.preemptExemptMs,
};

/** The settings as an event or a command carries them. */
export type RecordedSettings = {
  readonly [Key in keyof Omit<PoolSettings, "policy" | "quotas">]?: PoolSettings[Key] extends string
    ? string | undefined
    : PoolSettings[Key] | undefined;
} & { readonly quotas?: readonly Quota[] | undefined };

/**
 * Returns complete settings: a field that is absent, or has a value that this version does not know, gets its default.
 */
export function settingsOf(policy: string, recorded: RecordedSettings = {}): PoolSettings {
  const { description, preemption, ageingMs, quotas, defaultPriority, slotlessPerAgent } = recorded;
  const { idleTimeoutMs } = recorded;
  const compat = oneOf(compatNames, recorded.compat, defaultSettings.compat);
  // Determined's rules have no exemption.
  const exemptMs = compat === "determined" ? 0 : recorded.preemptExemptMs;
  return {
    policy: oneOf(policyNames, policy, defaultSettings.policy),
    description: description ?? defaultSettings.description,
    compat,
    preemption: preemption ?? defaultSettings.preemption,
    backfill: oneOf(backfillNames, recorded.backfill, defaultSettings.backfill),
    fit: oneOf(fitNames, recorded.fit, defaultSettings.fit),
    ageingMs: ageingMs ?? defaultSettings.ageingMs,
    quotas: quotas ?? defaultSettings.quotas,
    defaultPriority: defaultPriority ?? defaultSettings.defaultPriority,
    slotlessPerAgent: slotlessPerAgent ?? defaultSettings.slotlessPerAgent,
    preemptExemptMs: exemptMs ?? defaultSettings.preemptExemptMs,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
  };
}

function oneOf<Value extends string>(
  values: readonly Value[],
  text: string | undefined,
  otherwise: Value,
): Value {
  return values.find((value) => value === text) ?? otherwise;
}
