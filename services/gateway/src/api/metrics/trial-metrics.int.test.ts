/** Tests of queries for series, with a simulated metrics service. */
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
