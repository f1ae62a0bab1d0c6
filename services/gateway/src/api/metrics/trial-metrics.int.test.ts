/** Tests of queries for series, with a simulated metrics service. */
import { setTimeout } from "node:timers/promises";
import type { Plain } from "@trainyard/contracts";
import type { QuerySeries } from "@trainyard/contracts/commands";
import { parseTrialId } from "@trainyard/kernel";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
let asked: Plain<QuerySeries>[] = [];
/** The position of each experiment's stream, which grows with each question. */
let head = 0;
/** The questions that are being answered, and the most at once. */
let running = 0;
let runningMost = 0;

const noBuckets = {
  ...{ xMin: [], xMax: [], count: [], min: [], max: [], mean: [], deviation: [] },
  ...{ first: [], last: [], nans: [], infinities: [] },
};

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  stack.use(
    await gateway.serving("metrics", {
      QuerySeries: async (query) => {
        asked.push(query);
        head += 1;
        running += 1;
        runningMost = Math.max(runningMost, running);
        await setTimeout(5);
        running -= 1;
        const { trials, group, names, combined } = query;
        const experiments = trials.map((trial) => String(parseTrialId(trial)?.experiment));
        return {
          series: (combined ? [""] : trials).flatMap((trial) =>
            names.map((name) => ({ trial, group, name, ...noBuckets })),
          ),
          position: 7,
          streamPositions: Object.fromEntries(experiments.map((id) => [id, head])),
        };
      },
    }),
  );
  await gateway.append("experiment-1", created({}));
  await gateway.append("experiment-2", created({}));
  let position = 0;
  for (const experiment of ["1", "2"]) {
    for (let number = 1; number <= 60; number += 1) {
      const { type, data } = trialCreated(number);
      const made = { type, data: { ...data, experiment } };
      position = await gateway.append(`trial-${experiment}.${number}`, made, requested(1, 0));
    }
  }
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  asked = [];
  head = 0;
  runningMost = 0;
});

async function query(trials: readonly string[], others: Readonly<Record<string, string>> = {}) {
  const named = trials.map((trial): [string, string] => ["trials", trial]);
  const search = new URLSearchParams([...named, ["names", "loss"], ...Object.entries(others)]);
  const { status, body } = await gateway.call("GET", `/api/v1/metrics:series?${search}`);
  expect(body["detail"]).toBeUndefined();
  expect(status).toBe(200);
  return body as unknown as {
    readonly series: readonly { readonly trial: string; readonly name: string }[];
    readonly streamPosition: string;
    readonly streamPositions: Readonly<Record<string, string>>;
  };
}

test("series of several experiments have the position from which each is followed", async () => {
  const one = await query(["1.1", "1.2"]);
  expect([one.streamPosition, one.streamPositions]).toEqual(["1", { 1: "1" }]);
  const several = await query(["1.1", "2.1", "1.2"], { combined: "true" });
  expect(several.streamPosition).toBe("");
  expect(Object.keys(several.streamPositions)).toEqual(["1", "2"]);
});

test("series of many trials are asked for in few questions, and are in the order of the trials", async () => {
  const trials = Array.from({ length: 60 }, (_, n) => [`1.${n + 1}`, `2.${60 - n}`]).flat();
  const { series } = await query(trials, { buckets: "400" });
  expect(series.map(({ trial }) => trial)).toEqual(trials);
  expect(asked.length).toBe(12);
  asked = [];
  const combined = await query(trials, { buckets: "4000", combined: "true" });
  expect(combined.series.map(({ trial }) => trial)).toEqual([""]);
  expect(asked.map((question) => question.trials)).toEqual([trials]);
});

test("the charts of one caller are asked for in turn, a combined series at a time", async () => {
  const trials = Array.from({ length: 60 }, (_, n) => `1.${n + 1}`);
  await Promise.all(Array.from({ length: 8 }, () => query(trials, { combined: "true" })));
  expect([asked.length, runningMost]).toEqual([8, 1]);
  [asked, runningMost] = [[], 0];
  await Promise.all(Array.from({ length: 4 }, () => query(trials, { buckets: "400" })));
  expect([asked.length, runningMost]).toEqual([24, 4]);
});

test("a trial that is named twice is refused in a sentence", async () => {
  const path = "/api/v1/metrics:series?trials=1.1&trials=1.2&trials=1.1&names=loss";
  const { status, body } = await gateway.call("GET", path);
  expect([status, body["code"], body["detail"]]).toEqual([
    400,
    "invalid_request",
    "name a trial once",
  ]);
});

test.each([
  ["unknown", "1.61", /^there is no trial 1\.61$/],
  ["no id", "best", /^there is no trial best$/],
])("a trial that is %s is refused in a sentence", async (_, trial, sentence) => {
  const path = `/api/v1/metrics:series?trials=1.1&trials=${trial}&names=loss`;
  const { status, body } = await gateway.call("GET", path);
  expect([status, body["code"]]).toEqual([404, "trial_not_found"]);
  expect(body["detail"]).toMatch(sentence);
});
