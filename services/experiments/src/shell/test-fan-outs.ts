import { Bug } from "@trainyard/kernel";
import type { LargeFanOuts } from "./reactions.ts";

const none = async (): Promise<void> => {
  throw new Bug("nothing here is that large");
};

/** For experiments that are so small that their reactions look at all of their trials. */
export const noFanOuts: LargeFanOuts = { begin: none, lookForEnd: none };
