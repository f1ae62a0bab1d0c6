import { expect, test } from "vitest";
import { StoredTraining } from "./training.ts";
import { shortTroubles, strikeAll } from "./troubles.ts";

const seed = 11;

/**
 * `npm run -s campaign -- checkpoints` strikes with all troubles, each service's death among them, and files in parts.
 */
test("no checkpoint is damaged, offered in part or sent twice when the training is killed and its store fails", async () => {
  await using training = await StoredTraining.start({
    cluster: { slots: 1 },
    trials: 1,
    stepSeconds: 0.3,
    smallFiles: 4,
    largeBytes: 0,
  });
  const said: string[] = [];
  await strikeAll(training, shortTroubles, { seed, round: 0, log: (line) => said.push(line) });
  const found = [...(await training.end()), ...(await training.violations())];
  expect(found, said.join("\n")).toEqual([]);
}, 300_000);
