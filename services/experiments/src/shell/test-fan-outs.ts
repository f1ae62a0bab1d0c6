import { Bug, type Clock } from "@trainyard/kernel";
import type { Waits } from "./advance.ts";
import type { LargeFanOuts } from "./reactions.ts";

const none = async (): Promise<void> => {
  throw new Bug("nothing here is that large");
};

/** Where one clock is the log's and everybody's. */
export const waitsBy = (clock: Pick<Clock, "nowMs">): Waits => ({
  isOver: (_, untilMs) => clock.nowMs() >= untilMs,
});

/** Never fans out: for experiments that are so small that their reactions look at all of their trials. */
export const noFanOuts: LargeFanOuts = {
  begin: none,
  lookForEnd: none,
  proposals: async () => null,
};
