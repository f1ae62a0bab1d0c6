import { reject } from "@trainyard/kernel";
import type { CommandTable } from "../commands/commands.ts";
import type { ReactionLoop } from "./reactions.ts";

/** The command RetryParked, which every reacting service answers. */
export function parkingCommand(loop: ReactionLoop): CommandTable<"common">["RetryParked"] {
  return async ({ key }) => {
    const reason = await loop.retryParked(key);
    if (reason !== null) {
      return reject("parked_again", `the first parked event of ${key} failed again: ${reason}`);
    }
    return { position: loop.position, stream: "" };
  };
}
