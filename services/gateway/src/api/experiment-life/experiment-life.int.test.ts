/** Tests of continued experiments and restarted trials, with a simulated experiments service. */
import { ExperimentOutcome, TrialOutcome } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let service: AsyncDisposable;

const ended = (outcome: ExperimentOutcome) =>
  ({ type: "ExperimentEnded", data: { outcome, reason: "x" } }) as const;
const trialEnded = (outcome: TrialOutcome) =>
  ({ type: "TrialEnded", data: { outcome, reason: "boom", restarts: 3 } }) as const;
const continued = { type: "TrialContinued", data: { continuation: 1 } } as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  service = await gateway.serving("experiments", {
    ContinueExperiment: async (request) => {
      const { experiment, maxTrials, maxLength, lengthUnit } = request;
      if (experiment === "2") return reject("nothing_to_continue", "the experiment is complete");
      const stream = `experiment-${experiment}`;
      const more = maxTrials === undefined ? {} : { maxTrials };
      const longer = maxLength === undefined ? {} : { maxLength, lengthUnit };
      const data = { continuation: 1, request: "", ...more, ...longer };
      return {
        position: await gateway.append(stream, { type: "ExperimentContinued", data }),
        stream,
      };
    },
    RestartTrial: async ({ trial }) => {
      const stream = `trial-${trial}`;
      return { position: await gateway.append(stream, continued), stream };
    },
    KillTrial: async ({ trial, reason }) => {
      const stream = `trial-${trial}`;
      const event = { type: "TrialKillRequested", data: { reason } } as const;
      return { position: await gateway.append(stream, event), stream };
    },
  });
  await gateway.append("experiment-1", created({}));
  await gateway.append("trial-1.1", trialCreated(1), trialEnded(TrialOutcome.FAILED));
  await gateway.append("trial-1.2", trialCreated(2), trialEnded(TrialOutcome.COMPLETED));
  await gateway.append("trial-1.3", trialCreated(3));
  const position = await gateway.append("experiment-1", ended(ExperimentOutcome.COMPLETED));
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

test("a continued experiment is active, with the new values in its configuration", async () => {
  const body = { maxTrials: 40, maxLength: 9, lengthUnit: "epochs" };
  const path = "/api/v1/experiments/1";
  const answer = await gateway.call("POST", `${path}/continue`, { body });
  expect(answer.status).toBe(200);
  const { body: shown } = await gateway.call("GET", path);
  expect(shown).toMatchObject({ state: "ACTIVE", reason: "", trialsCompleted: 1, trialsFailed: 1 });
  expect(shown["endedAtMs"]).toBeUndefined();
  expect(shown["config"]).toMatchObject({
    searcher: { max_trials: 40, max_length: { epochs: 9 } },
  });
});

test("a restarted trial is active, and its experiment counts it as open", async () => {
  const answer = await gateway.call("POST", "/api/v1/trials/1.1/restart", { body: {} });
  expect(answer).toMatchObject({ status: 200, body: { trial: { state: "ACTIVE", reason: "" } } });
  const shown = await gateway.call("GET", "/api/v1/experiments/1");
  expect(shown.body).toMatchObject({ trialsCompleted: 1 });
  expect(shown.body["trialsFailed"] ?? 0).toBe(0);
  const position = await gateway.append("trial-1.1", trialEnded(TrialOutcome.COMPLETED));
  const after = await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  expect(after.body).toMatchObject({ trialsCompleted: 2 });
});

test("a killed trial is shown as stopping", async () => {
  const answer = await gateway.call("POST", "/api/v1/trials/1.3/kill", { body: {} });
  expect(answer).toMatchObject({ status: 200, body: { trial: { state: "STOPPING_KILLED" } } });
});

test("a refused command, or one for an unknown experiment, changes nothing", async () => {
  const refused = await gateway.call("POST", "/api/v1/experiments/2/continue", { body: {} });
  expect(refused).toMatchObject({ status: 409, body: { code: "nothing_to_continue" } });
  for (const path of ["experiments/x/continue", "trials/x/kill", "trials/7/restart"]) {
    expect(await gateway.call("POST", `/api/v1/${path}`, { body: {} })).toMatchObject({
      status: 404,
    });
  }
  const bad = { body: { maxTrials: -1 } };
  expect(await gateway.call("POST", "/api/v1/experiments/1/continue", bad)).toMatchObject({
    status: 400,
  });
});
