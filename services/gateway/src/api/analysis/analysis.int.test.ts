import type { EventOf } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, searchStarted } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

const space = {
  lr: { type: "double", minval: 0, maxval: 1, count: null },
  noise: { type: "double", minval: 0, maxval: 1, count: null },
};

const proposed = (number: number, lr: number, noise: number): EventOf<"TrialProposed"> => ({
  type: "TrialProposed",
  data: { number, hyperparameters: { lr, noise }, seed: 1, searchVersion: number, origin: "drawn" },
});

const observed = (trial: number, value: number): EventOf<"ObservationRecorded"> => ({
  type: "ObservationRecorded",
  data: {
    trial,
    run: 1,
    time: 1,
    values: { loss: value },
    measurement: `m-${trial}`,
    repeat: false,
  },
});

beforeAll(async () => {
  gateway = await startTestGateway();
  const started = searchStarted();
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", { ...started, data: { ...started.data, space } });
  const position = await gateway.append("experiment-2", created({}));
  await gateway.call("GET", `/api/v1/experiments/2?minPosition=${position}`);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Appends trials whose metric equals their lr; the other fields do not matter. */
async function append(from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    const lr = 1 - number / 41;
    const noise = ((number * 7) % 41) / 41;
    await gateway.append("search-1", proposed(number, lr, noise), observed(number, lr));
  }
}

const importance = "/api/v1/experiments/1/search/importance";
const best = "/api/v1/experiments/1/search/best";

describe("the analysis of a search", () => {
  it("is empty without trials, and has no importances before enough of them", async () => {
    expect((await gateway.call("GET", best)).body).toMatchObject({ metric: "loss", items: [] });
    await append(1, 19);
    expect((await gateway.call("GET", importance)).body).toMatchObject({
      trials: 19,
      trialsNeeded: 20,
      items: [],
    });
  });

  it("continues from its last result when the search has new events, also for two callers at once", async () => {
    await append(20, 40);
    const [{ body }, again] = await Promise.all([
      gateway.call("GET", importance),
      gateway.call("GET", importance),
    ]);
    expect(again.body).toEqual(body);
    expect(body).toMatchObject({ trials: 40, trialsBest: 5 });
    expect(body).toMatchObject({ items: [{ hyperparameter: "lr" }, { hyperparameter: "noise" }] });
    const { items, validations } = (await gateway.call("GET", best)).body as {
      items: unknown[];
      validations: number;
    };
    expect([items.length, validations]).toEqual([40, 40]);
    expect(items[39]).toMatchObject({ trial: "1.40", time: 1, observations: 40, units: 40 });
  });

  it("has the Pareto front of several objectives, and on request all trials", async () => {
    const searcher = {
      name: "random",
      metric: "loss",
      smaller_is_better: true,
      objectives: [
        { metric: "loss", smaller_is_better: true },
        { metric: "speed", smaller_is_better: false },
      ],
    };
    const started = searchStarted();
    const position = await gateway.append("experiment-3", created({}));
    await gateway.call("GET", `/api/v1/experiments/3?minPosition=${position}`);
    await gateway.append("search-3", { ...started, data: { ...started.data, space, searcher } });
    const values = [
      [0.5, 1],
      [0.2, 0.5],
      [0.6, 0.9],
      [0.1, 0.1],
    ];
    for (const [i, [loss = 0, speed = 0]] of values.entries()) {
      const report = observed(i + 1, loss);
      const data = { ...report.data, values: { loss, speed } };
      await gateway.append("search-3", proposed(i + 1, loss, 0), { ...report, data });
    }
    await gateway.append("search-3", proposed(5, 0, 0));
    const front = await gateway.call("GET", "/api/v1/experiments/3/search/pareto");
    expect(front.body).toMatchObject({
      objectives: [
        { metric: "loss", smallerIsBetter: true },
        { metric: "speed", smallerIsBetter: false },
      ],
      trials: 4,
      items: [
        { trial: "3.1", values: [0.5, 1], onFront: true, hyperparameters: { lr: 0.5, noise: 0 } },
        { trial: "3.2", values: [0.2, 0.5] },
        { trial: "3.4", values: [0.1, 0.1] },
      ],
    });
    const all = await gateway.call("GET", "/api/v1/experiments/3/search/pareto?all=true");
    const { items } = all.body as { items: { trial: string; onFront?: boolean }[] };
    expect(items.map(({ trial, onFront = false }) => [trial, onFront])).toEqual([
      ["3.1", true],
      ["3.2", true],
      ["3.3", false],
      ["3.4", true],
    ]);
  });

  it("is 404 for an unknown experiment, and empty before the search starts", async () => {
    expect((await gateway.call("GET", "/api/v1/experiments/9/search/best")).status).toBe(404);
    const { status, body } = await gateway.call("GET", "/api/v1/experiments/2/search/importance");
    expect({ status, body }).toMatchObject({ status: 200, body: { trials: 0, items: [] } });
  });
});
