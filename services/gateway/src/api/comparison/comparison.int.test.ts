/** Tests of comparisons of trials, with a simulated metrics service. */
import { setTimeout } from "node:timers/promises";
import type { CompareTrialsResponse } from "@trainyard/contracts/api";
import { ExperimentOutcome, TrialOutcome } from "@trainyard/contracts/events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, requested, searchStarted, validation } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { apiLimits } from "../limits.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
/** The trials of the last question to the metrics service. */
let counted: readonly string[] = [];
/** The questions to the metrics service that are being answered, and the most at once. */
let counting = 0;
let countingMost = 0;

async function addTrial(experiment: string, number: number, loss?: number): Promise<number> {
  const trial = `${experiment}.${number}`;
  const at = await gateway.append(
    `trial-${trial}`,
    {
      type: "TrialCreated",
      data: {
        experiment,
        number,
        seed: 1,
        warmStartCheckpoint: "",
        sourceTrial: "",
        origin: "drawn",
        hyperparameters: { lr: number / 10 },
      },
    },
    requested(1, 0),
  );
  if (loss === undefined) return at;
  const report = validation({ step: 1, loss });
  return gateway.append(`measurement-${trial}`, { ...report, data: { ...report.data, trial } });
}

const configOf = (lr: number) => ({
  searcher: { name: "random", metric: "loss" },
  hyperparameters: { lr },
  environment: { environment_variables: ["HF_TOKEN=hf_secret"] },
});

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  stack.use(
    await gateway.serving("metrics", {
      CountMetricNames: async ({ trials, limit }) => {
        counted = trials;
        expect(limit).toBe(apiLimits.comparedMetricsMax);
        counting += 1;
        countingMost = Math.max(countingMost, counting);
        await setTimeout(5);
        counting -= 1;
        return { counts: [{ group: "training", name: "loss", trials: trials.length }] };
      },
    }),
  );
  for (const [id, smallerIsBetter] of [
    ["1", true],
    ["2", false],
    ["3", true],
    ["4", true],
  ] as const) {
    const labels = id === "2" ? ["night"] : [];
    await gateway.append(
      `experiment-${id}`,
      created({ name: `net ${id}`, labels, config: configOf(Number(id)), contextDigest: "c0de" }),
    );
    const started = searchStarted();
    await gateway.append(`search-${id}`, {
      ...started,
      data: { ...started.data, smallerIsBetter },
    });
  }
  // Trial 1.2 is the best and then fails, 1.4 has no value.
  for (const [number, loss] of [[1, 3], [2, 1], [3, 2], [4]] as const) {
    await addTrial("1", number, loss);
  }
  await gateway.append("trial-1.2", {
    type: "TrialEnded",
    data: { outcome: TrialOutcome.FAILED, reason: "it crashed", restarts: 0 },
  });
  for (const [number, loss] of [1, 3, 2].entries()) await addTrial("2", number + 1, loss);
  await addTrial("3", 1, 1);
  await gateway.append(
    "experiment-3",
    { type: "ExperimentEnded", data: { outcome: ExperimentOutcome.COMPLETED, reason: "" } },
    { type: "ExperimentDeletionRequested", data: { graceEndMs: 1_790_000_000_000, reason: "" } },
  );
  await gateway.append("experiment-5", created({ name: "large" }));
  let position = 0;
  for (let number = 1; number <= 101; number += 1) position = await addTrial("5", number);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(() => stack.disposeAsync());

const ask = (...sources: readonly string[]) => {
  const query = new URLSearchParams(sources.map((source): [string, string] => ["sources", source]));
  return gateway.call("GET", `/api/v1/trials:compare?${query}`);
};

const compared = async (...sources: readonly string[]): Promise<CompareTrialsResponse> => {
  const { status, body } = await ask(...sources);
  expect(body["detail"]).toBeUndefined();
  expect(status).toBe(200);
  return body as unknown as CompareTrialsResponse;
};

const idsOf = async (...sources: readonly string[]) =>
  (await compared(...sources)).trials.map(({ id }) => id);

describe("a comparison", () => {
  it("has the trials of its sources in their order, each once, of any experiments", async () => {
    expect(await idsOf("2.2-3", "1.1.4", "2.3", "2.1")).toEqual([
      "2.2",
      "2.3",
      "1.1",
      "1.4",
      "2.1",
    ]);
    expect(counted).toEqual(["2.2", "2.3", "1.1", "1.4", "2.1"]);
    expect(await idsOf("1.all")).toEqual(["1.1", "1.2", "1.3", "1.4"]);
  });

  it("has the best trials by the metric of their experiment, without failed ones", async () => {
    expect(await idsOf("1.best")).toEqual(["1.3"]);
    expect(await idsOf("1.best100", "2.best2")).toEqual(["1.3", "1.1", "2.2", "2.3"]);
  });

  it("has the experiments, the metrics and the latest environments of its trials", async () => {
    for (const [run, version] of [
      ["2.1#1", "2.0"],
      ["2.2#1", "2.1"],
    ] as const) {
      const path = `/api/v1/runs/${encodeURIComponent(run)}/environment`;
      const body = { python: "3.12.4", packages: { torch: version } };
      const told = await gateway.call("POST", path, { token: await gateway.runToken(run), body });
      expect(told.status).toBe(200);
    }
    const { experiments, metrics, environments, trials, position } = await compared("2.1", "1.1");
    expect(trials[0]).toMatchObject({
      hyperparameters: { lr: 0.1 },
      latestValidation: { loss: 1 },
    });
    expect(experiments).toMatchObject([
      {
        ...{ id: "2", name: "net 2", labels: ["night"], searcher: "random", metric: "loss" },
        ...{ smallerIsBetter: false, workspace: "default", project: "default", owner: "local" },
        ...{ state: "PAUSED", config: { hyperparameters: { lr: 2 } }, codeDigest: "c0de" },
      },
      { id: "1", smallerIsBetter: true },
    ]);
    expect(JSON.stringify(experiments)).not.toContain("hf_secret");
    expect(metrics).toEqual([{ group: "training", name: "loss", trials: 2 }]);
    expect(environments).toEqual([
      { experiment: "2", run: "2.2#1", python: "3.12.4", packages: { torch: "2.1" } },
    ]);
    expect(Number(position)).toBeGreaterThan(0);
  });

  it("waits for the caller's other ones", async () => {
    countingMost = 0;
    const all = Array.from({ length: 6 }, () => idsOf("1.1"));
    expect(await Promise.all(all)).toEqual(all.map(() => ["1.1"]));
    expect(countingMost).toBe(1);
  });

  it("says which sources name nothing, and has the others", async () => {
    const { trials, gone } = await compared("9.all", "3.1", "1.3.9", "4.best", "4.all", "2.best");
    expect(trials.map(({ id }) => id)).toEqual(["1.3", "2.2"]);
    expect(gone).toEqual([
      { source: "9.all", reason: "there is no experiment 9" },
      { source: "3.1", reason: "there is no experiment 3" },
      { source: "4.best", reason: "no trial of experiment 4 has a value of loss yet" },
      { source: "4.all", reason: "experiment 4 has no trial yet" },
      { source: "1.9", reason: "there is no trial 1.9" },
    ]);
    expect(await compared("9.1")).toMatchObject({ trials: [], experiments: [], metrics: [] });
  });

  it.each<[string, readonly string[], string]>([
    ["101 trials", ["5.1-100", "1.1"], "a comparison takes 100 trials; these sources name 101"],
    ["101 trials in a source", ["1.1-101"], "a comparison takes 100 trials; 1.1-101 names 101"],
    ["a billion trials", ["1.1-999999999"], "takes 100 trials; 1.1-999999999 names 999999999"],
    ["an experiment of 101", ["5.all"], "a comparison takes 100 trials; 5.all names 101"],
    ["the best 101", ["1.best101"], "a comparison takes 100 trials; 1.best101 names 101"],
    [
      "101 sources",
      Array.from({ length: 101 }, () => "1.1"),
      "a comparison takes 100 sources; these are 101",
    ],
    ["no source", [], "sources: name at least one trial, such as 12.3 or 12.best"],
    [
      "nonsense",
      ["1.1", "the best"],
      'sources: "the best" is no source of a comparison; a source is like 12.3, 12.1-3.7, 12.best5 or 12.all',
    ],
    ["a text with U+0000", ["1\0.1"], "is no source of a comparison"],
  ])("of %s is refused in a sentence", async (_, sources, sentence) => {
    const { status, body } = await ask(...sources);
    expect(status).toBe(400);
    expect(body["code"]).toBe("invalid_request");
    expect(body["detail"]).toContain(sentence);
  });

  it("takes 100 trials", async () => {
    expect((await idsOf("5.1-100", "5.7")).length).toBe(100);
  });
});
