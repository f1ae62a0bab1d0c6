import { judgeHistories } from "@trainyard/service-checkpoint-gc/judge-histories";
import type { Campaign } from "../../scripts/lib/campaigns.ts";

const histories = 100_000;
/** The number of histories between two progress messages. */
const page = 1_000;

export const campaigns: readonly Campaign[] = [
  {
    name: "retention",
    description:
      "100,000 random histories of checkpoints beside an oracle, with and without crashes",
    async run({ seed, log }) {
      const violations: string[] = [];
      let condemned = 0;
      let judged = 0;
      while (judged < histories && violations.length === 0) {
        const result = await judgeHistories(page, seed + judged / page);
        judged += page;
        condemned += result.condemned;
        if (result.violation !== null) {
          violations.push(result.violation);
          log(`violation: ${result.violation}`);
        }
        log(`${judged} histories, ${condemned} checkpoints condemned`);
      }
      return { violations, summary: `${judged} histories, ${condemned} checkpoints condemned` };
    },
  },
];
