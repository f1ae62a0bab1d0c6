import type { EventOf } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, searchStarted } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

const searcher = {
  name: "asha",
  metric: "loss",
  smaller_is_better: true,
  max_trials: 4,
  max_time: 4,
  min_time: 1,
  divisor: 4,
  time_metric: "",
  max_concurrent_trials: 4,
  resume: false,
};

const proposed = (number: number): EventOf<"TrialProposed"> => ({
  type: "TrialProposed",
  data: { number, hyperparameters: {}, seed: 1, searchVersion: number, origin: "drawn" },
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

const evidence = { value: 0.9, units: 1, rank: 2, of: 2, kept: 1, cutoff: 0.5 };

const stopped: EventOf<"TrialStopDecided"> = {
  type: "TrialStopDecided",
  data: { trial: 2, rule: "halving", evidence },
};

beforeAll(async () => {
  gateway = await startTestGateway();
  const started = searchStarted();
  const data = { ...started.data, algorithm: "asha", searcher, trialsMax: 4 };
  await gateway.append("experiment-1", created({}));
  await gateway.append(
    "search-1",
    { ...started, data },
    proposed(1),
    proposed(2),
    proposed(3),
    observed(1, 0.5),
    observed(2, 0.9),
    stopped,
  );
  const position = await gateway.append("experiment-2", created({}));
  await gateway.call("GET", `/api/v1/experiments/2?minPosition=${position}`);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const picture = "/api/v1/experiments/1/search/picture";

type Shown = {
  readonly version: number;
  readonly trials: readonly { readonly trial: string }[];
  readonly nextPageToken?: string;
};

describe("the picture of a search", () => {
  it("has rungs with their cutoffs, paths of trials, and decisions with rule, evidence and sentence", async () => {
    const { status, body } = await gateway.call("GET", picture);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: 7,
      algorithm: "asha",
      metric: "loss",
      smallerIsBetter: true,
      phase: "running",
      form: "stop",
      units: 2,
      trialsProposed: 3,
      brackets: [{ rungs: [{ units: 1, trials: 2, kept: 1, cutoff: 0.5 }, { units: 4 }] }],
    });
    const { trials } = body as Shown;
    expect(trials).toMatchObject([
      {
        trial: "1.1",
        state: "running",
        reports: [{ at: { version: 5, units: 1 }, time: 1, value: 0.5, rank: 1 }],
      },
      {
        trial: "1.2",
        state: "stopping",
        reports: [{ at: { version: 6, units: 2 }, value: 0.9, rank: 2 }],
        decisions: [
          {
            at: { version: 7 },
            event: "TrialStopDecided",
            verb: "stopped",
            rule: "halving",
            sentence: "it ranks 2 of 2 with 0.9 at time 1; only the best continues (cutoff 0.5)",
            evidence,
          },
        ],
      },
      { trial: "1.3", state: "running", proposed: { version: 4 } },
    ]);
  });

  it("is available for an earlier version, also after a later version was read", async () => {
    const before = await gateway.call("GET", `${picture}?version=6`);
    expect(before.body).toMatchObject({ version: 6, trials: [{}, { state: "running" }, {}] });
    const first = await gateway.call("GET", `${picture}?version=2`);
    expect(first.body).toMatchObject({ version: 2, trialsProposed: 1, trials: [{ trial: "1.1" }] });
    const [latest, again] = await Promise.all([
      gateway.call("GET", picture),
      gateway.call("GET", `${picture}?version=6`),
    ]);
    expect(latest.body).toMatchObject({ version: 7, trials: [{}, { state: "stopping" }, {}] });
    expect(again.body).toEqual(before.body);
  });

  it("comes in pages of one version, also when the search continues in between", async () => {
    const first = (await gateway.call("GET", `${picture}?pageSize=2`)).body as Shown;
    expect(first.trials.map(({ trial }) => trial)).toEqual(["1.1", "1.2"]);
    await gateway.append("search-1", observed(3, 0.1));
    const next = `${picture}?pageSize=2&pageToken=${first.nextPageToken}`;
    const second = (await gateway.call("GET", next)).body as Shown;
    expect(second).toMatchObject({ version: first.version, trials: [{ trial: "1.3" }] });
    expect(second.nextPageToken ?? "").toBe("");
    const latest = await gateway.call("GET", picture);
    expect(latest.body).toMatchObject({
      version: 8,
      trials: [{ reports: [{ rank: 2 }] }, { reports: [{ rank: 3 }] }, { reports: [{ rank: 1 }] }],
    });
  });

  it("is empty before the search has started", async () => {
    const { status, body } = await gateway.call("GET", "/api/v1/experiments/2/search/picture");
    expect({ status, body }).toMatchObject({ status: 200, body: { phase: "unknown", trials: [] } });
  });

  it("refuses a future version, an invalid token and an unknown experiment", async () => {
    const refused = async (query: string) => {
      const { status, body } = await gateway.call("GET", `${picture}?${query}`);
      return [status, (body as { detail: string }).detail];
    };
    expect(await refused("version=99")).toEqual([
      400,
      "the search of experiment 1 has version 8, and not yet version 99",
    ]);
    expect(await refused("pageToken=x")).toEqual([400, "invalid page_token"]);
    const zero = Buffer.from("7 0").toString("base64url");
    expect(await refused(`pageToken=${zero}`)).toEqual([400, "invalid page_token"]);
    const token = Buffer.from("7 3").toString("base64url");
    expect(await refused(`version=6&pageToken=${token}`)).toEqual([400, "invalid page_token"]);
    const { status } = await gateway.call("GET", "/api/v1/experiments/9/search/picture");
    expect(status).toBe(404);
  });
});
