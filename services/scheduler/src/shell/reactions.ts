import type { ReactionHandlers } from "@trainyard/runtime";
import { onRunRequested, onRunStopRequested } from "../core/policy.ts";
import { allocations } from "../streams.ts";

export const reactions: ReactionHandlers = {
  async RunRequested({ id, data }, work) {
    const { allocation, command } = onRunRequested(id, data);
    await work.decide(allocations, allocation, command);
  },
  async RunStopRequested({ id, data }, work) {
    const { allocation, command } = onRunStopRequested(id, data);
    await work.decide(allocations, allocation, command);
  },
};
