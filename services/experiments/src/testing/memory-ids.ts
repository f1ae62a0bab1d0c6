import { experimentId } from "@trainyard/kernel";
import type { ExperimentIds } from "../shell/experiment-ids.ts";

export function memoryIds(): ExperimentIds {
  let last = 0;
  return {
    async next() {
      last += 1;
      return experimentId(last);
    },
  };
}
