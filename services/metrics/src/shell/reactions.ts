import { parseTrialId } from "@trainyard/kernel";
import type { ReactionHandlers } from "@trainyard/runtime";
import type { Pool } from "pg";
import { keepsUpTo } from "../core/run-history.ts";
import { measurements } from "../streams.ts";
import { addSupersession } from "./stream-table.ts";

export function reactionHandlers(pool: Pool): ReactionHandlers {
  return {
    async RunRequested({ id: trial, data }, work) {
      const { run } = data;
      const parts = parseTrialId(trial);
      // A run of a task reports nothing.
      if (parts === null || run === 1) return;
      const { experiment } = parts;
      // The entry is written before the reaction's commit: a repeated reaction finds it.
      const afterStep = keepsUpTo(data);
      await addSupersession(pool, { experiment, trial, run, afterStep });
      await work.decide(measurements, trial, { kind: "supersede", run, afterStep });
    },
  };
}
