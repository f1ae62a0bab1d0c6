import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { StoredTraining } from "./training.ts";
import { allTroubles, strikeAll } from "./troubles.ts";

const rounds = 2;

export const campaigns: readonly Campaign[] = [
  {
    name: "checkpoints",
    description:
      "training, agent, services, PostgreSQL and the object store killed, away and failing during uploads and deletions",
    async run({ seed, log }) {
      await using training = await StoredTraining.start({
        cluster: { processes: true, slots: 2 },
        trials: 2,
        // An upload takes less time than a step, so that no upload waits for an earlier one.
        stepSeconds: 6,
        smallFiles: 12,
        // A file of this size is sent in two parts.
        largeBytes: 80 * 1_024 ** 2,
      });
      for (let round = 0; round < rounds; round += 1) {
        await strikeAll(training, allTroubles, { seed, round, log });
      }
      log("every trouble was overcome; waiting for the training to end");
      const violations = [...(await training.end()), ...(await training.violations())];
      for (const violation of violations) log(`violation: ${violation}`);
      const stored = (await training.checkpoints()).length;
      return {
        violations,
        summary: `${rounds * allTroubles.length} troubles, ${stored} checkpoints`,
      };
    },
  },
];
