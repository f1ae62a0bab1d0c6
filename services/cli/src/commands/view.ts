/** The commands about the services' read models: list and rebuild. */
import { ListViewsResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { time } from "../output.ts";

export function addViewCommands(program: Command): void {
  const view = program.command("view").description("the read models of the services");
  view
    .command("list")
    .alias("ls")
    .description("their positions, and the events that they could not apply")
    .action(withPlatform(listViews));
  view
    .command("rebuild")
    .argument("<service>")
    .argument("<view>")
    .description("rebuild one beside the one in use, then replace it")
    .action(withPlatform(rebuildView));
}

async function listViews({ client, output }: Context): Promise<void> {
  const page = await client.call("listViews", {});
  if (output.json) {
    output.message(ListViewsResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "SERVICE", value: ({ service }) => service },
    { title: "VIEW", value: ({ name }) => name },
    {
      title: "VERSION",
      value: ({ version }) => (version === 0 ? "" : String(version)),
      right: true,
    },
    {
      title: "POSITION",
      value: ({ name, position }) => (name === "" ? "" : position),
      right: true,
    },
    { title: "BEHIND", value: ({ name, lag }) => (name === "" ? "" : lag), right: true },
    {
      title: "",
      value: ({ problem, buildingAt, caughtUp }) => {
        if (problem !== "") return problem;
        if (buildingAt !== "") return `rebuilding, at position ${buildingAt}`;
        return caughtUp ? "" : "catching up";
      },
    },
  ]);
  for (const { service, name, setAside } of page.items) {
    for (const { stream, eventPosition, reason, waiting, setAsideAtMs } of setAside) {
      output.note(
        `${service}.${name} has set aside ${stream} from position ${eventPosition} on (${waiting} more wait) at ${time(setAsideAtMs)}: ${reason}`,
      );
    }
  }
}

async function rebuildView({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [service, view] = [argument(args, 0), argument(args, 1)];
  await client.call("rebuildView", { service, view });
  output.note(`${service}.${view} is being rebuilt; \`yard view list\` shows its position`);
}
