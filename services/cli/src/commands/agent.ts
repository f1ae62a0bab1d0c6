/** The commands about agents: their slots, their runs, and why an agent gets no more runs. */
import type { Client } from "@trainyard/client";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import { type Agent, AgentSchema, ListAgentsResponseSchema } from "@trainyard/contracts/api";
import { undeliveredText } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { addRowOptions, limitOf, type RowOptions, rowsOf } from "../list-options.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { noteAge } from "../state-age.ts";
import { UsageError } from "../usage-error.ts";
import { addAgentChanges, disabledText } from "./agent-changes.ts";

export function addAgentCommands(program: Command): void {
  const group = program.command("agent").description("the hosts that run trials");
  addRowOptions(group.command("list"))
    .alias("ls")
    .description("all of them")
    .action(withPlatform<RowOptions>(list));
  group
    .command("describe")
    .argument("<name>")
    .description("its slots, what holds them, and what keeps it from getting runs")
    .action(withPlatform(describe));
  group
    .command("trust")
    .argument("<name>")
    .description("forget the launches that failed there, so that runs are placed there at once")
    .action(
      withPlatform(async ({ client, output }, args) => {
        await client.call("trustAgent", { name: argument(args, 0) });
        output.note(`launches that failed on ${argument(args, 0)} are forgotten`);
      }),
    );
  addAgentChanges(group);
}

function allAgents(client: Client, options: RowOptions = {}): Promise<ReplyOf<"listAgents">> {
  const rows = rowsOf(options);
  return allPages((start) => client.call("listAgents", { ...rows, ...start }), limitOf(options));
}

async function list(
  { client, output }: Context,
  _args: readonly string[],
  options: RowOptions,
): Promise<void> {
  const page = await allAgents(client, options);
  if (output.json) {
    output.message(ListAgentsResponseSchema, page);
    return;
  }
  noteAge(output, page.schedulerAnsweredAtMs);
  output.table(page.items, [
    { title: "AGENT", value: ({ name }) => name },
    { title: "POOL", value: ({ pool }) => pool },
    { title: "STATE", value: ({ state }) => state },
    { title: "SLOTS", value: ({ slots }) => String(offered(slots).length), right: true },
    { title: "DEVICES", value: ({ slots }) => devicesOf(offered(slots)) },
    { title: "FREE", value: (agent) => String(freeSlots(agent)), right: true },
    { title: "", value: notesOf },
  ]);
}

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const name = argument(args, 0);
  const { items, schedulerAnsweredAtMs } = await allAgents(client);
  const agent = items.find((one) => one.name === name);
  if (agent === undefined) {
    throw new UsageError(
      `No agent is called ${JSON.stringify(name)}; "yard agent list" names them.`,
    );
  }
  if (output.json) {
    output.message(AgentSchema, agent);
    return;
  }
  const { distrust } = agent;
  noteAge(output, schedulerAnsweredAtMs);
  output.fields([
    ["agent", agent.name],
    ["pool", agent.pool],
    ["state", agent.state],
    ["version", agent.version],
    ["labels", labelsOf(agent)],
    ["runs are", runsOf(agent)],
    ["processes of a run", held(agent)],
    ...(rootText(agent) === "" ? [] : ([["training code", rootText(agent)]] as const)),
    ...(trouble(agent) === "" ? [] : ([["gets no runs", trouble(agent)]] as const)),
    ["not stored yet", undeliveredText(agent.undelivered)],
    ...agent.notices.map((notice) => ["to look at", notice] as const),
    ...((agent.nameRefused ?? "") === "" ? [] : ([["its name", agent.nameRefused ?? ""]] as const)),
    ...(distrust === undefined
      ? []
      : ([
          [
            "failed runs",
            `${distrust.failures}, of experiments ${distrust.experiments.join(", ")}; the last: ${distrust.reason}`,
          ],
        ] as const)),
  ]);
  output.line("");
  output.table(agent.slots, [
    { title: "SLOT", value: ({ id }) => id },
    { title: "DEVICE", value: ({ device }) => device },
    { title: "NAME", value: ({ name = "" }) => name },
    { title: "MEMORY", value: ({ memoryBytes = 0 }) => gibibytes(memoryBytes), right: true },
    { title: "RUN", value: ({ run }) => run },
    {
      title: "",
      value: ({ left = "", withdrawn, disabled }) =>
        left || (withdrawn === true ? gone : disabledText(disabled)),
    },
  ]);
}

/** Returns why an agent gets no runs, who else asks for its name, what it has to deliver, and what to look at. */
function notesOf(agent: Plain<Agent>): string {
  const { nameRefused = "", undelivered } = agent;
  const left = undelivered === undefined ? "" : `${undeliveredText(undelivered)} not stored yet`;
  const notes = [trouble(agent) || nameRefused, left, noticesText(agent), rootText(agent)];
  return notes.filter((note) => note !== "").join("; ");
}

/** Returns the first notice, and the number of the others; `describe` has all of them. */
function noticesText({ notices: [first = "", ...others] }: Plain<Agent>): string {
  return others.length === 0 ? first : `${first}, and ${others.length} more to look at`;
}

/** Returns a warning if training code could read and change everything on the host; else an empty text. */
function rootText({ runsAsRoot = false }: Plain<Agent>): string {
  return runsAsRoot ? "runs as root: see docs/operate/run-users.md" : "";
}

function runsOf({ processGroups, engine = "" }: Plain<Agent>): string {
  if (processGroups !== "container") return "processes of the host";
  return engine === "" ? "containers" : `containers of ${engine}`;
}

type Slots = Plain<Agent>["slots"];

const gone = "not offered any more: the agent's log says why";

function offered(slots: Slots): Slots {
  return slots.filter(({ withdrawn }) => withdrawn !== true);
}

/** Returns for example "4 cuda (NVIDIA A100-SXM4-80GB, 80 GiB)": each kind of device and its number, in slot order. */
function devicesOf(slots: Slots): string {
  const counts = new Map<string, number>();
  for (const { device, name = "", memoryBytes = 0 } of slots) {
    const about = [name, gibibytes(memoryBytes)].filter((text) => text !== "").join(", ");
    const kind = about === "" ? device : `${device} (${about})`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(", ");
}

/** Returns the size as text; empty for 0. */
function gibibytes(bytes: number): string {
  return bytes === 0 ? "" : `${Number((bytes / 1024 ** 3).toFixed(1))} GiB`;
}

/** Counts the slots that can get a run now. */
function freeSlots({ slots, disabled, silence }: Plain<Agent>): number {
  if (disabled !== undefined || silence !== undefined) return 0;
  return slots.filter((slot) => slot.run === "" && slot.disabled === undefined).length;
}

function labelsOf({ labels }: Plain<Agent>): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([label, value]) => `${label}=${value}`).join(", ");
}

/** Returns why a connected agent gets no runs; empty for none. */
function trouble({ notPlaced = "", distrust, slots, disabled, silence }: Plain<Agent>): string {
  if (silence !== undefined) {
    return `does not report (${silence.reason}), and is lost at ${time(silence.untilMs)}`;
  }
  if (disabled !== undefined) return disabledText(disabled);
  if (notPlaced !== "") return notPlaced;
  if (distrust !== undefined) {
    return `not before ${time(distrust.untilMs)}: its last ${distrust.failures} runs failed (${distrust.reason})`;
  }
  return slots.find(({ left = "" }) => left !== "")?.left ?? "";
}

function held({ processGroups }: Plain<Agent>): string {
  switch (processGroups) {
    case "cgroup":
      return "held by a cgroup";
    case "parent":
      return "held by an adopting parent";
    case "container":
      return "held by a container";
    default:
      return "not reported by this agent";
  }
}
