/** The keys of a pool's configuration, and its defaults. */
import type { EventData, Plain } from "@trainyard/contracts";
import type { PoolSettings as RecordedPoolSettings } from "@trainyard/contracts/events";
import { isName, type Rejection, reject } from "@trainyard/kernel";
import {
  backfillNames,
  compatNames,
  fitNames,
  type PoolSettings,
  policyNames,
  settingsOf,
} from "@trainyard/scheduling";
import { compatProblem } from "@trainyard/scheduling/determined";
import { limits } from "../../limits.ts";

type Configured = EventData<"PoolConfigured">;
type Recorded = Plain<RecordedPoolSettings>;

/** The settings of a pool without a configuration. */
export const unconfigured: Configured = { policy: "priority" };

export function settingsOfPool({ policy, settings }: Configured): PoolSettings {
  return settingsOf(policy, settings);
}

/** Returns the settings with all defaults filled in, as shown to people. */
export function shownSettings(configured: Configured): Recorded {
  const { policy: _policy, quotas, ...settings } = settingsOfPool(configured);
  const autoscaling = configured.settings?.autoscaling;
  return { ...settings, quotas, ...(autoscaling === undefined ? {} : { autoscaling }) };
}

/** True if both configurations are equal once defaults are filled in. */
export function isSameConfiguration(a: Configured, b: Configured): boolean {
  return textOf(a) === textOf(b);
}

function textOf(configured: Configured): string {
  const { agentsMin, agentsMax, slotsPerAgent, idleMs, startingMs } =
    configured.settings?.autoscaling ?? {};
  const { quotas, ...settings } = settingsOfPool(configured);
  const named = quotas.map(({ workspace, slots, borrow }) => [workspace, slots, borrow]);
  const scaling = [agentsMin, agentsMax, slotsPerAgent, idleMs, startingMs];
  return JSON.stringify([settings, named, scaling]);
}

/** Returns null for a valid configuration. */
export function problemOf(pool: string, { policy, settings }: Configured): Rejection | null {
  const problem =
    nameProblem(pool) ??
    policyProblem(policy) ??
    settingsProblem(settings) ??
    compatProblem(settingsOf(policy, settings));
  return problem === null ? null : reject("invalid_pool", problem);
}

function nameProblem(pool: string): string | null {
  if (isName(pool)) return null;
  return `"${pool}" cannot be the name of a pool: it takes letters, digits, ".", "_" and "-"`;
}

function policyProblem(policy: string): string | null {
  return unknownOf("the policy", policy, policyNames);
}

function unknownOf(
  what: string,
  text: string | undefined,
  known: readonly string[],
): string | null {
  if (text === undefined || known.includes(text)) return null;
  const names = known.map((name) => (name === "" ? '""' : name)).join(", ");
  return `${what} "${text}" is not known: it is one of ${names}`;
}

function settingsProblem(settings: Recorded | undefined): string | null {
  if (settings === undefined) return null;
  const { description, compat, backfill, fit } = settings;
  const { ageingMs, preemptExemptMs, defaultPriority, quotas, autoscaling } = settings;
  const { slotlessPerAgent = 1, idleTimeoutMs } = settings;
  return (
    lengthProblem("description", description) ??
    unknownOf("compat", compat, compatNames) ??
    unknownOf("backfill", backfill, backfillNames) ??
    unknownOf("fit", fit, fitNames) ??
    (defaultPriority === undefined ? null : priorityProblem("default_priority", defaultPriority)) ??
    rangeProblem("slotless_per_agent", slotlessPerAgent, [1, limits.slotlessPerAgentMax]) ??
    durationProblem("ageing_ms", ageingMs) ??
    durationProblem("preempt_exempt_ms", preemptExemptMs) ??
    durationProblem("idle_timeout_ms", idleTimeoutMs) ??
    quotasProblem(quotas) ??
    autoscalingProblem(autoscaling)
  );
}

function lengthProblem(what: string, text = ""): string | null {
  const { descriptionCharsMax: most } = limits;
  if (text.length <= most) return null;
  return `${what} has ${text.length} characters, but it may have at most ${most}`;
}

/** Returns null for a valid priority of a run. */
export function priorityProblem(what: string, priority: number): string | null {
  return rangeProblem(what, priority, [limits.priorityMin, limits.priorityMax]);
}

/** Returns null for a whole number in the range. */
function rangeProblem(
  what: string,
  value: number,
  [from, to]: readonly [number, number],
): string | null {
  if (Number.isInteger(value) && value >= from && value <= to) return null;
  return `${what} is ${value}, but it has to be from ${from} to ${to}`;
}

function durationProblem(what: string, ms: number | undefined): string | null {
  if (ms === undefined || (Number.isFinite(ms) && ms >= 0)) return null;
  return `${what} is ${ms}, but it has to be 0 or more milliseconds`;
}

function quotasProblem(quotas: Recorded["quotas"]): string | null {
  const { quotasMax, workspaceCharsMax, poolSlotsMax } = limits;
  if (quotas.length > quotasMax) return `${quotas.length} quotas are more than ${quotasMax}`;
  const seen = new Set<string>();
  for (const { workspace, slots } of quotas) {
    if (workspace === "") return "a quota names no workspace";
    if (workspace.length > workspaceCharsMax) {
      return `a quota's workspace has ${workspace.length} characters, but it may have at most ${workspaceCharsMax}`;
    }
    if (seen.has(workspace)) return `the workspace ${workspace} has two quotas`;
    seen.add(workspace);
    const problem = rangeProblem(`the quota of ${workspace}`, slots, [0, poolSlotsMax]);
    if (problem !== null) return problem;
  }
  return null;
}

function autoscalingProblem(autoscaling: Recorded["autoscaling"]): string | null {
  if (autoscaling === undefined) return null;
  const { agentsMin, agentsMax, slotsPerAgent, idleMs, startingMs } = autoscaling;
  const range = [0, limits.poolSlotsMax] as const;
  if (agentsMin > agentsMax) {
    return `autoscaling: agents_min (${agentsMin}) is more than agents_max (${agentsMax})`;
  }
  return (
    rangeProblem("autoscaling: agents_min", agentsMin, range) ??
    rangeProblem("autoscaling: agents_max", agentsMax, range) ??
    rangeProblem("autoscaling: slots_per_agent", slotsPerAgent, range) ??
    durationProblem("autoscaling: idle_ms", idleMs) ??
    durationProblem("autoscaling: starting_ms", startingMs)
  );
}
