import type { ReactionHandlers } from "@trainyard/runtime";
import { measurements } from "../streams.ts";

export const reactions: ReactionHandlers = {
  async RunRequested({ id: trial, data: { run, fromStep } }, work) {
    if (run > 1) {
      await work.decide(measurements, trial, { kind: "supersede", run, afterStep: fromStep });
    }
  },
};
