/** The commands that change an agent or one of its slots. */
import { randomUUID } from "node:crypto";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import { AgentResponseSchema, type Disabled } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { millisecondsOf } from "../option-values.ts";
import { time } from "../output.ts";

type ChangeOptions = {
  readonly slot?: string;
  readonly reason?: string;
  readonly deadline?: string;
  readonly force?: boolean;
};

const slotOption = ["--slot <id>", "only this slot, by its id in yard agent describe"] as const;
const reasonOption = ["--reason <text>", "shown with the agent"] as const;

export function addAgentChanges(group: Command): void {
  group
    .command("disable")
    .argument("<name>")
    .option(...slotOption)
    .option(...reasonOption)
    .description("place no more runs there; its runs continue")
    .action(withPlatform<ChangeOptions>(disable));
  group
    .command("drain")
    .argument("<name>")
    .option(...slotOption)
    .option(...reasonOption)
    .option("--deadline <time>", "kill what is left after 15m, say; without it, never")
    .description("place no more runs there; its runs save a checkpoint and continue elsewhere")
    .action(withPlatform<ChangeOptions>(drain));
  group
    .command("enable")
    .argument("<name>")
    .option(...slotOption)
    .description("place runs there again")
    .action(withPlatform<ChangeOptions>(enable));
  group
    .command("remove")
    .argument("<name>")
    .option(...reasonOption)
    .option("--force", "also if checkpoints that are only on its host are lost")
    .description("remove an agent that is lost or has no runs; its slots no longer count")
    .action(withPlatform<ChangeOptions>(remove));
}

async function disable(
  { client, output }: Context,
  args: readonly string[],
  { slot = "", reason = "" }: ChangeOptions,
): Promise<void> {
  const name = argument(args, 0);
  const answer = await client.call("disableAgent", { name, slot, reason }, repeatable());
  told(output, answer, `${subject(name, slot)} is disabled; its runs continue`);
}

async function drain(
  { client, output }: Context,
  args: readonly string[],
  { slot = "", reason = "", deadline }: ChangeOptions,
): Promise<void> {
  const name = argument(args, 0);
  const deadlineMs = deadline === undefined ? 0 : millisecondsOf("--deadline", deadline);
  const request = { name, slot, reason, deadlineMs };
  const answer = await client.call("drainAgent", request, repeatable());
  const killed = deadline === undefined ? "" : `, and are killed after ${deadline}`;
  told(output, answer, `${subject(name, slot)} is draining: its runs stop gracefully${killed}`);
}

async function enable(
  { client, output }: Context,
  args: readonly string[],
  { slot = "" }: ChangeOptions,
): Promise<void> {
  const name = argument(args, 0);
  const answer = await client.call("enableAgent", { name, slot }, repeatable());
  told(output, answer, `${subject(name, slot)} is enabled`);
}

async function remove(
  { client, output }: Context,
  args: readonly string[],
  { reason = "", force = false }: ChangeOptions,
): Promise<void> {
  const name = argument(args, 0);
  const answer = await client.call("removeAgent", { name, reason, force }, repeatable());
  told(output, answer, `agent ${name} is removed`);
}

const repeatable = () => ({ idempotencyKey: randomUUID() });

const subject = (name: string, slot: string): string =>
  slot === "" ? `agent ${name}` : `slot ${slot} of agent ${name}`;

function told(output: Context["output"], answer: ReplyOf<"disableAgent">, text: string): void {
  if (output.json) output.message(AgentResponseSchema, answer);
  else output.line(text);
}

/**
 * Returns for example "draining since 2026-01-01 10:00:00, its runs are killed at …: kernel update"; empty if enabled.
 */
export function disabledText(disabled: Plain<Disabled> | undefined): string {
  if (disabled === undefined) return "";
  const { state, sinceMs, deadlineAtMs, reason } = disabled;
  const draining = state === "DRAINING" && deadlineAtMs !== undefined;
  const deadline = draining ? `, its runs are killed at ${time(deadlineAtMs)}` : "";
  const why = reason === "" ? "" : `: ${reason}`;
  return `${state.toLowerCase()} since ${time(sinceMs)}${deadline}${why}`;
}
