/** `yard search events`: prints the events that the client of a custom search receives. */
import { EventSchema } from "@trainyard/contracts/api";
import { type Command, InvalidArgumentError } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { detachSignal } from "../../follow.ts";
import { time } from "../../output.ts";

type Options = { readonly after: number; readonly follow?: boolean };

export function addEvents(group: Command): void {
  group
    .command("events")
    .argument("<experiment>")
    .option("--after <version>", "begin after this version of the search", version, 0)
    .option("--follow", "print new events as they come, until the search is complete")
    .description("the search's own events, by their versions")
    .action(withPlatform<Options>(events));
}

function version(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a version: 0, 1, 2, …");
  return Number(text);
}

async function events(
  { client, output }: Context,
  args: readonly string[],
  { after, follow }: Options,
): Promise<void> {
  const signal = detachSignal(output);
  const request = { experiment: argument(args, 0), after, noFollow: follow !== true };
  try {
    for await (const { message } of client.stream("watchSearchEvents", request, { signal })) {
      if (output.json) output.message(EventSchema, message);
      else {
        const name = message.type.split(".")[3] ?? message.type;
        const data = JSON.stringify(message.data ?? {});
        output.line(
          `${message.streamversion.padStart(6)}  ${time(Date.parse(message.time))}  ${name} ${data}`,
        );
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
