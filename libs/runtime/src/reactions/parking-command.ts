import { reject } from "@trainyard/kernel";
import type { CommandTable } from "../commands/commands.ts";
import type { Loop } from "./loop.ts";
import type { ReactionLoop } from "./reactions.ts";

/** The command RetryParked, which every reacting service answers: for its reactions, then for its other loops. */
export function parkingCommand(
  reactions: ReactionLoop,
  loops: readonly Loop[],
): CommandTable<"common">["RetryParked"] {
  return async ({ key }) => {
    for (const loop of [reactions, ...loops]) {
      const reason = (await loop.retryParked?.(key)) ?? null;
      if (reason === null) continue;
      return reject("parked_again", `the first parked event of ${key} failed again: ${reason}`);
    }
    return { position: reactions.position, stream: "" };
  };
}
