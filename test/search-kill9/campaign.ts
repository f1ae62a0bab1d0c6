/** kill -9 of the searcher at a thousand points, over every method that is registered. */
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { killInMemory } from "./kill-in-memory.ts";
import { killProcess } from "./kill-process.ts";
import { methods } from "@trainyard/search/testing";

const pointsOfAll = 1_000;
const pointsOfMethodMin = 50;
const kills = 50;
/** The longest sequence of inputs to the process. */
const stepsMax = 120;

export const campaigns: readonly Campaign[] = [
  {
    name: "search-kill9",
    description: "the searcher dies at 1,000 points of fixed sequences, and decides the same",
    async run({ seed, log }) {
      const each = Math.max(pointsOfMethodMin, Math.ceil((pointsOfAll - kills) / methods.length));
      const violations: string[] = [];
      let points = 0;
      for (const method of methods) {
        const killed = await killInMemory(method, each, seed);
        points += killed.points;
        violations.push(...killed.violations);
        log(`${method}: ${killed.points} points in memory, ${killed.violations.length} violations`);
      }
      const processes = await killProcess(kills, seed, stepsMax, log);
      violations.push(...processes.violations);
      const late =
        processes.late.length === 0
          ? ""
          : `; a model came late in ${processes.late.join(", ")}, which was decided once more instead`;
      const all = points + processes.kills;
      return {
        violations,
        summary: `${methods.length} methods, ${all} points, ${processes.kills} of them SIGKILL of the process${late}`,
      };
    },
  },
];
