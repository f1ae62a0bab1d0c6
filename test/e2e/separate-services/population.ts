/**
 * Tests population based training on a real cluster: worse trials continue from a better one's checkpoint, and the
 * schedule found is trained again as one run.
 */
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const POPULATION = 4;
const TRIALS_MAX = 8;

const config = (searcher: string): string => `
name: population
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
${searcher}
reproducibility: { experiment_seed: 5 }
environment: { environment_variables: ["STEPS=1000", "STEP_SECONDS=0.1"] }
`;

type Schedule = {
  readonly searcher: { readonly schedule: readonly { readonly until: number }[] };
};

const trials = async (experiment: string) =>
  (await world.client.call("listTrials", { experiment, pageSize: 100 })).items.toSorted(
    (a, b) => a.number - b.number,
  );

async function lossAt(trial: string, step: number): Promise<unknown> {
  const { items } = await world.client.call("listTrialMetrics", {
    trial,
    group: "validation",
    pageSize: 500,
  });
  return items.find(({ stepsCompleted }) => stepsCompleted === step)?.metrics?.["loss"];
}

/** The schedule of the newest trained trial that is a copy. */
async function scheduleOfCopy(experiment: string): Promise<{ trial: string; schedule: Schedule }> {
  const copies = (await trials(experiment)).filter(({ sourceTrial }) => sourceTrial !== "");
  for (const { id } of copies.toReversed()) {
    const { code, out } = await world.yard("search", "schedule", experiment, id, "-o", "json");
    const schedule = code === 0 ? (JSON.parse(out) as Schedule) : null;
    if (schedule !== null && schedule.searcher.schedule.length > 1) return { trial: id, schedule };
  }
  throw new Error("no copy was trained");
}

test("copies continue at their donor's step, a killed searcher changes no decision, and the schedule reproduces the metric", async () => {
  const searcher = `searcher: { name: pbt, metric: loss, population_size: ${POPULATION}, max_time: 40, interval: 10, max_trials: ${TRIALS_MAX} }`;
  const id = await world.submit(config(searcher), world.code("population"));
  await eventually("a member was copied", async () => (await trials(id)).length > POPULATION);
  await world.untilUp("searcher", await world.kill("searcher"));
  expect(await world.end(id)).toBe("COMPLETED");

  const all = await trials(id);
  expect(all.map(({ state }) => state)).toEqual(all.map(() => "COMPLETED"));
  expect(all.length).toBeLessThanOrEqual(TRIALS_MAX);
  const copy = await world.logs(`${id}.${POPULATION + 1}`);
  expect(copy).toMatch(/starts at ([1-9]\d*), told \1\n/);
  const begun = await world.client.call("getTrial", { trial: `${id}.${POPULATION + 1}` });
  expect(begun.sourceTrial).toMatch(new RegExp(`^${id}\\.[1-${POPULATION}]$`));
  expect(begun.sourceStep).toBeGreaterThan(0);
  const replayed = await world.yard("search", "replay", id);
  expect(replayed).toMatchObject({ code: 0 });
  const why = (await world.yard("search", "explain", id)).out;
  expect(why).toMatch(
    /trial \d+\.\d+ stopped: it ranks 4 of 4 with .*; trial \d+ replaces it, from the checkpoint of trial \d/,
  );
  expect(why).toMatch(/trial \d+\.5 started from trial \d: lr .* → /);

  const { trial, schedule } = await scheduleOfCopy(id);
  const number = trial.split(".")[1] ?? "";
  const { out } = await world.yard("search", "schedule", id, number);
  const again = await world.submit(config(out), world.code("population"));
  expect(await world.end(again)).toBe("COMPLETED");
  const segments = schedule.searcher.schedule;
  const chain = await trials(again);
  expect(chain).toHaveLength(segments.length);
  const until = segments.at(-1)?.until ?? 0;
  const loss = await lossAt(trial, until);
  expect(loss).toBeTypeOf("number");
  expect(await lossAt(chain.at(-1)?.id ?? "", until)).toBe(loss);
}, 600_000);
