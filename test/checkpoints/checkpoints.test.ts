import { expect, test } from "vitest";
import { StoredTraining } from "./training.ts";
import { shortTroubles, strikeAll } from "./troubles.ts";

const seed = 11;

/** `npm run -s campaign -- checkpoints` adds all other troubles, such as each service's death, and files in parts. */
test("checkpoints stay whole, are never offered in part and are never sent twice when the training is killed and its store fails", async () => {
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
