/** The commands about pools: sets of agents with one policy and one queue of runs. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  ListPoolsResponseSchema,
  type Pool,
  PoolResponseSchema,
  PoolSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { durationText } from "../output.ts";
import { UsageError } from "../usage-error.ts";
import { addSettingOptions, type SettingOptions, settingsWith } from "./pool-settings.ts";

export function addPoolCommands(program: Command): void {
  const group = program
    .command("pool")
    .description("the pools of agents, and how runs are placed there");
  addSettingOptions(group.command("create").argument("<name>"))
    .description("a new pool; a setting that is not given has its default")
    .action(withPlatform<SettingOptions>(create));
  addSettingOptions(group.command("update").argument("<name>"))
    .description("change the settings that are given, and no others")
    .action(withPlatform<SettingOptions>(update));
  group
    .command("list")
    .alias("ls")
    .description("all of them, with their slots and runs")
    .action(withPlatform(list));
  group
    .command("describe")
    .argument("<name>")
    .description("its settings, its quotas and what they lend, and the slots that are reserved")
    .action(withPlatform(describe));
  group
    .command("remove")
    .argument("<name>")
    .description("remove a pool without agents and runs")
    .action(withPlatform(remove));
}

async function create(
  { client, output }: Context,
  args: readonly string[],
  options: SettingOptions,
): Promise<void> {
  const name = argument(args, 0);
  const request = {
    name,
    policy: options.policy ?? "",
    settings: settingsWith({ quotas: [] }, options),
  };
  const answer = await client.call("createPool", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(PoolResponseSchema, answer);
  else output.line(`pool ${name} is created`);
}

async function update(
  { client, output }: Context,
  args: readonly string[],
  options: SettingOptions,
): Promise<void> {
  const name = argument(args, 0);
  const { output: _format, ...named } = options as SettingOptions & { readonly output?: string };
  if (Object.keys(named).length === 0) {
    throw new UsageError("Give at least one setting to change; see --help.");
  }
  const pool = await client.call("getPool", { name });
  const settings = settingsWith(pool.settings ?? { quotas: [] }, options);
  const request = { name, policy: options.policy ?? pool.policy, settings };
  const answer = await client.call("updatePool", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(PoolResponseSchema, answer);
  else output.line(`pool ${name} is updated`);
}

async function remove({ client, output }: Context, args: readonly string[]): Promise<void> {
  const name = argument(args, 0);
  const answer = await client.call("removePool", { name }, { idempotencyKey: randomUUID() });
  if (output.json) output.message(PoolResponseSchema, answer);
  else output.line(`pool ${name} is removed`);
}

async function list({ client, output }: Context): Promise<void> {
  const page = await client.call("listPools", {});
  if (output.json) {
    output.message(ListPoolsResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "POOL", value: ({ name }) => name },
    { title: "POLICY", value: policyOf },
    { title: "AGENTS", value: agentsOf, right: true },
    { title: "SLOTS", value: ({ slots }) => String(slots), right: true },
    { title: "FREE", value: ({ slotsFree }) => String(slotsFree), right: true },
    { title: "RESERVED", value: ({ slotsReserved }) => String(slotsReserved), right: true },
    { title: "PLACED", value: ({ runsPlaced }) => String(runsPlaced), right: true },
    { title: "WAITING", value: ({ runsWaiting }) => String(runsWaiting), right: true },
  ]);
}

const agentsOf = ({ agentsPresent, agentsKnown }: Plain<Pool>): string =>
  `${agentsPresent}/${agentsKnown}`;

function policyOf({ policy, settings }: Plain<Pool>): string {
  return settings?.preemption === true ? `${policy}, preemption` : policy;
}

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const pool = await client.call("getPool", { name: argument(args, 0) });
  output.show(PoolSchema, pool, () => [
    ["pool", pool.name],
    ...settingFields(pool),
    ["agents", `${agentsOf(pool)} connected`],
    ["slots", `${pool.slots}, of which ${pool.slotsFree} are free`],
    ["runs", `${pool.runsPlaced} placed, ${pool.runsWaiting} waiting`],
    ["reserved", pool.reservedFor === "" ? "" : reservedText(pool)],
    ["set aside", pool.setAside],
  ]);
  if (output.json || pool.quotas.length === 0) return;
  const borrows = new Set(
    pool.settings?.quotas.filter(({ borrow }) => borrow).map(({ workspace }) => workspace),
  );
  output.line("");
  output.table(pool.quotas, [
    { title: "WORKSPACE", value: ({ workspace }) => workspace },
    { title: "QUOTA", value: ({ slots }) => String(slots), right: true },
    { title: "USED", value: ({ used }) => String(used), right: true },
    { title: "ON LOAN", value: ({ borrowed }) => String(borrowed), right: true },
    { title: "", value: ({ workspace }) => (borrows.has(workspace) ? "may borrow" : "") },
  ]);
}

function reservedText({ slotsReserved, reservedFor }: Plain<Pool>): string {
  return `${slotsReserved} slots for run ${reservedFor}, the first that has no place`;
}

function idleText(ms: number | undefined): string {
  if (ms === undefined) return "that of the cluster";
  return ms === 0 ? "none" : durationText(ms);
}

function settingFields({ policy, settings }: Plain<Pool>): readonly (readonly [string, string])[] {
  const { autoscaling, ageingMs = 0, compat = "", preemptExemptMs = 0 } = settings ?? {};
  return [
    ["description", settings?.description ?? ""],
    ["policy", policy],
    ["preemption", settings?.preemption === true ? "yes" : "no"],
    ["preempt exempt", preemptExemptMs === 0 ? "none" : durationText(preemptExemptMs)],
    ["backfill", settings?.backfill ?? ""],
    ["fit", settings?.fit ?? ""],
    ["ageing", ageingMs === 0 ? "none" : `one priority per ${durationText(ageingMs)}`],
    ["rules of", compat === "" ? "Trainyard" : compat],
    ["default priority", String(settings?.defaultPriority ?? "")],
    ["idle timeout", idleText(settings?.idleTimeoutMs)],
    ["slotless per agent", String(settings?.slotlessPerAgent ?? "")],
    [
      "autoscaling",
      autoscaling === undefined
        ? ""
        : `${autoscaling.agentsMin} to ${autoscaling.agentsMax} agents of ${autoscaling.slotsPerAgent} slots, idle for at most ${durationText(autoscaling.idleMs)}, starting for at most ${durationText(autoscaling.startingMs)}`,
    ],
  ];
}
