/** The settings of a pool from the options of `yard pool create` and `yard pool update`. */
import type { Plain } from "@trainyard/contracts";
import type { Autoscaling, PoolSettings, Quota } from "@trainyard/contracts/events";
import { backfillNames, compatNames, fitNames, policyNames } from "@trainyard/scheduling/settings";
import { type Command, Option } from "commander";
import { collect, millisecondsOf, wholeNumberOf } from "../option-values.ts";
import { UsageError } from "../usage-error.ts";

export type SettingOptions = {
  readonly policy?: string;
  readonly preemption?: boolean;
  readonly backfill?: string;
  readonly fit?: string;
  readonly ageing?: string;
  readonly preemptExempt?: string;
  readonly idleTimeout?: string;
  readonly quota?: readonly string[];
  readonly compat?: string;
  readonly defaultPriority?: string;
  readonly slotlessPerAgent?: string;
  readonly description?: string;
  readonly autoscaling?: string;
};

/** The systems whose rules a pool can follow. */
const rulesOf = compatNames.filter((name) => name !== "");

export function addSettingOptions(command: Command): Command {
  const choice = (flags: string, description: string, ...choices: readonly string[]) =>
    new Option(flags, description).choices(choices);
  return command
    .addOption(choice("--policy <policy>", "the order in which runs get slots", ...policyNames))
    .option("--preemption", "stop runs that can be preempted when a better one needs their slots")
    .option(
      "--preempt-exempt <time>",
      "let a run make room only after it has run for 2m, say, or made a new checkpoint; or none",
    )
    .option("--no-preemption", "let each run hold its slots until it ends")
    .addOption(
      choice(
        "--backfill <which>",
        "runs that may pass the first one that has no place: those that leave its reserved slots alone, all, or none",
        ...backfillNames,
      ),
    )
    .addOption(choice("--fit <how>", "fill agents up, or use all of them", ...fitNames))
    .option("--ageing <time>", "raise a waiting run by one priority after each 10m, say; or none")
    .option(
      "--quota <workspace=slots[:borrow]>",
      "the slots that a workspace may hold, :borrow if its preemptible runs may hold more while nobody else needs them; workspace=none removes the quota; repeatable",
      collect,
    )
    .addOption(
      choice("--compat <rules>", "schedule by the rules of Determined", ...rulesOf, "none"),
    )
    .option("--default-priority <number>", "of experiments that set none; lower is placed first")
    .option(
      "--idle-timeout <time>",
      "end tasks of the pool that set none after 30m without use, say; or none",
    )
    .option("--slotless-per-agent <number>", "the most runs without slots on one agent")
    .option("--description <text>", "what the pool is for")
    .option(
      "--autoscaling <limits>",
      "max=8,slots=4[,min=0][,idle=20m][,starting=20m]: the number of agents, the slots of each, how long one may be idle or starting; or none. Nothing starts or ends agents yet",
    );
}

/** The settings of a pool in the form of a request. */
type NewSettings = Omit<Plain<PoolSettings>, "quotas"> & { quotas: Plain<Quota>[] };

/** Returns the settings with the named options changed; a quota option changes only its workspace's quota. */
export function settingsWith(before: Plain<PoolSettings>, options: SettingOptions): NewSettings {
  const { ageing, compat, defaultPriority, preemptExempt, slotlessPerAgent } = options;
  const { idleTimeout } = options;
  const named = {
    ...pick(options, "description", "preemption", "backfill", "fit"),
    ...(compat === undefined ? {} : { compat: compat === "none" ? "" : compat }),
    ...(ageing === undefined ? {} : { ageingMs: periodOf("--ageing", ageing) }),
    ...(preemptExempt === undefined
      ? {}
      : { preemptExemptMs: periodOf("--preempt-exempt", preemptExempt) }),
    ...(idleTimeout === undefined
      ? {}
      : { idleTimeoutMs: periodOf("--idle-timeout", idleTimeout) }),
    ...(defaultPriority === undefined
      ? {}
      : { defaultPriority: wholeNumberOf("--default-priority", defaultPriority, 1) }),
    ...(slotlessPerAgent === undefined
      ? {}
      : { slotlessPerAgent: wholeNumberOf("--slotless-per-agent", slotlessPerAgent) }),
  };
  // Rules of Determined show no exemption: other rules begin with the default again.
  const { autoscaling: scaled, preemptExemptMs, ...rest } = before;
  const kept = compat === undefined && preemptExemptMs !== undefined ? { preemptExemptMs } : {};
  const autoscaling =
    options.autoscaling === undefined ? scaled : autoscalingOf(options.autoscaling);
  return {
    ...rest,
    ...kept,
    ...named,
    quotas: quotasWith(before.quotas, options.quota ?? []),
    ...(autoscaling === undefined ? {} : { autoscaling }),
  };
}

/** Parses a time; none is 0. */
function periodOf(option: string, text: string): number {
  return text === "none" ? 0 : millisecondsOf(option, text);
}

function pick<Key extends keyof SettingOptions>(
  options: SettingOptions,
  ...keys: readonly Key[]
): Pick<SettingOptions, Key> {
  const given = keys.filter((key) => options[key] !== undefined);
  return Object.fromEntries(given.map((key) => [key, options[key]])) as Pick<SettingOptions, Key>;
}

function quotasWith(before: readonly Plain<Quota>[], texts: readonly string[]): Plain<Quota>[] {
  const quotas = new Map(before.map((quota) => [quota.workspace, quota]));
  for (const text of texts) {
    const [, workspace = "", amount = "", borrow] =
      /^([^=]+)=(\d{1,9}|none)(:borrow)?$/.exec(text) ?? [];
    if (workspace === "" || (amount === "none" && borrow !== undefined)) {
      const forms = "workspace=16, workspace=16:borrow or workspace=none";
      throw new UsageError(`--quota takes ${forms}, not ${JSON.stringify(text)}.`);
    }
    if (amount === "none") quotas.delete(workspace);
    else quotas.set(workspace, { workspace, slots: Number(amount), borrow: borrow !== undefined });
  }
  return [...quotas.values()];
}

/** Parses --autoscaling; undefined for `none`. */
function autoscalingOf(text: string): Plain<Autoscaling> | undefined {
  if (text === "none") return undefined;
  const values = new Map<string, string>();
  for (const part of text.split(",")) {
    const [, name = "", value = ""] = /^(min|max|slots|idle|starting)=(.+)$/.exec(part) ?? [];
    if (name === "") throw autoscalingError(text);
    values.set(name, value);
  }
  const [max, slots] = [values.get("max"), values.get("slots")];
  if (max === undefined || slots === undefined) throw autoscalingError(text);
  const agentsMin = wholeNumberOf("--autoscaling min", values.get("min") ?? "0");
  return {
    agentsMin,
    agentsMax: wholeNumberOf("--autoscaling max", max, agentsMin),
    slotsPerAgent: wholeNumberOf("--autoscaling slots", slots),
    idleMs: millisecondsOf("--autoscaling idle", values.get("idle") ?? "20m"),
    startingMs: millisecondsOf("--autoscaling starting", values.get("starting") ?? "20m"),
  };
}

function autoscalingError(text: string): UsageError {
  const form = "max=8,slots=4[,min=0][,idle=20m][,starting=20m] or none";
  return new UsageError(`--autoscaling takes ${form}, not ${JSON.stringify(text)}.`);
}
