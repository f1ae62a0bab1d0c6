import { type Decider, reject } from "@trainyard/kernel";
import type { HoldCommand, HoldEvent, HoldState } from "./state.ts";

export const holdDecider: Decider<HoldState, HoldCommand, HoldEvent> = {
  initial: "free",
  evolve(state, { type }) {
    if (type === "DeletionsHeld") return "held";
    return type === "DeletionsReleased" ? "free" : state;
  },
  decide(state, command) {
    if (command.kind === "hold") {
      return state === "held" ? [] : [{ type: "DeletionsHeld", data: command.rewind }];
    }
    if (state === "free") return reject("deletions_not_held", "no deletions are held");
    const { by, reason } = command;
    return [{ type: "DeletionsReleased", data: { by, reason } }];
  },
};
