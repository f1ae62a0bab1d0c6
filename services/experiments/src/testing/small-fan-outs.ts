import { Bug, type Clock } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { Waits } from "../shell/advance.ts";
import type { LargeFanOuts } from "../shell/reactions.ts";

export const defaultDelays = { firstMs: limits.tryDelayFirstMs, lastMs: limits.tryDelayLastMs };

const none = async (): Promise<void> => {
  throw new Bug("nothing here is that large");
};

/** The waits of a test in which all hosts and the log have one clock. */
export const waitsBy = (
  clock: Pick<Clock, "nowMs">,
  trials: readonly string[] = [],
  tasks: readonly string[] = [],
): Waits => ({
  isOver: (_, untilMs) => clock.nowMs() >= untilMs,
  trials: () => trials,
  tasks: () => tasks,
  delays: defaultDelays,
});

/** Fan-outs that are never used: for small experiments, whose reactions read all of their trials. */
export const noFanOuts: LargeFanOuts = {
  begin: none,
  lookForEnd: none,
  proposals: async () => null,
};
