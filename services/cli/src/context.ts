import type { Client } from "@trainyard/client";
import type { Command } from "commander";
import { connect } from "./connection.ts";
import { Output, type OutputFormat } from "./output.ts";

/** The objects that every command uses. */
export type Context = { readonly client: Client; readonly output: Output };

export function outputOf(command: Command): Output {
  const { output } = command.optsWithGlobals<{ output: OutputFormat }>();
  return new Output(output);
}

/** Wraps an action with its context: it gets its arguments, its options, and a client of the platform. */
export function withPlatform<Options>(
  action: (context: Context, args: readonly string[], options: Options) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const args = given
      .slice(0, -2)
      .flat()
      .filter((arg): arg is string => typeof arg === "string");
    // An option that a command shares with the group above it belongs to the group, wherever it is written.
    const options = command.optsWithGlobals<Options & object>();
    await action({ client: connect(), output: outputOf(command) }, args, options);
  };
}

/** Returns a required argument, which Commander always passes. */
export function argument(args: readonly string[], index: number): string {
  return args[index] ?? "";
}
