/** Tests of archived experiments and of list filters, with a simulated experiments service. */
import type { Plain } from "@trainyard/contracts";
import type { ActOnExperiments } from "@trainyard/contracts/commands";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { Fault } from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";
import { apiLimits } from "../limits.ts";

let gateway: TestGateway;
let service: AsyncDisposable;
const acted: Plain<ActOnExperiments>[] = [];
const commits: string[] = [];
let failing = false;

/** Simulates the experiments service: experiment 1 is changed, 2 is refused, and others need no change. */
async function act(request: Plain<ActOnExperiments>, { identity }: CommandContext) {
  commits.push(identity.commitId);
  if (failing) throw new Fault("away", "away", { retry: "later" });
  acted.push(request);
  const items = request.experiments.map((experiment) => ({
    experiment,
    changed: experiment === "1",
    code: experiment === "2" ? "experiment_not_ended" : "",
    detail: experiment === "2" ? "no" : "",
  }));
  return { position: 0, items };
}

const completed = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
} as const;

beforeAll(async () => {
  gateway = await startTestGateway();
  service = await gateway.serving("experiments", {
    ArchiveExperiment: async (request) => {
      const { experiment, archived, reason } = request;
      const stream = `experiment-${experiment}`;
      const position = archived
        ? await gateway.append(stream, { type: "ExperimentArchived", data: { reason } })
        : await gateway.append(stream, { type: "ExperimentUnarchived", data: {} });
      return { position, stream };
    },
    ActOnExperiments: act,
  });
  await gateway.append("experiment-1", created({ labels: ["a", "b"] }), completed);
  await gateway.append("experiment-2", created({ labels: ["a"] }));
  const position = await gateway.append("experiment-3", created({ labels: [] }), completed);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

async function listed(query: string): Promise<readonly string[]> {
  const { status, body } = await gateway.call("GET", `/api/v1/experiments?${query}`);
  expect(status).toBe(200);
  return (body["items"] as { id: string }[]).map(({ id }) => id);
}

test("lists are filtered by labels and by states", async () => {
  expect(await listed("")).toEqual(["3", "2", "1"]);
  expect(await listed("labels=a")).toEqual(["2", "1"]);
  expect(await listed("labels=a&labels=b")).toEqual(["1"]);
  expect(await listed("states=COMPLETED")).toEqual(["3", "1"]);
  expect(await listed("states=COMPLETED&states=PAUSED&labels=a")).toEqual(["2", "1"]);
  expect(await listed("labels=none")).toEqual([]);
});

test("a filter by an unknown state is refused with the list of states", async () => {
  const answer = await gateway.call("GET", "/api/v1/experiments?states=DONE");
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  expect(String(answer.body["detail"])).toContain(
    '"DONE" is not a state; the states are ACTIVE, PAUSED',
  );
});

test("pages of a filtered list are complete and in order", async () => {
  const first = await gateway.call("GET", "/api/v1/experiments?pageSize=1&states=COMPLETED");
  expect(first.body).toMatchObject({ items: [{ id: "3" }] });
  const next = String(first.body["nextPageToken"]);
  const query = `pageSize=1&states=COMPLETED&pageToken=${next}`;
  expect(await listed(query)).toEqual(["1"]);
});

test("an archived experiment is in lists only when they are asked for it, and can be read", async () => {
  const path = "/api/v1/experiments/3";
  const archived = await gateway.call("POST", `${path}/archive`, { body: { reason: "old" } });
  expect(archived).toMatchObject({ status: 200, body: { experiment: { archived: true } } });
  expect(await listed("")).toEqual(["2", "1"]);
  expect(await listed("archived=true")).toEqual(["3", "2", "1"]);
  expect((await gateway.call("GET", path)).body).toMatchObject({ archived: true });
  const back = await gateway.call("POST", `${path}/unarchive`, { body: {} });
  expect(back).toMatchObject({ status: 200, body: { experiment: { archived: false } } });
  expect(await listed("")).toEqual(["3", "2", "1"]);
});

describe("one verb on several experiments", () => {
  const act = (body: object, headers = {}) =>
    gateway.call("POST", "/api/v1/experiments:act", {
      body: { verb: "archive", ...body },
      headers,
    });

  test("is sent in pieces, each with its commit id, and answers in the order of the request", async () => {
    const ids = Array.from({ length: apiLimits.actedOnTogether + 2 }, (_, n) => `${n + 1}`);
    const { status, body } = await act({ experiments: ids, reason: "old", dryRun: true });
    expect(status).toBe(200);
    const items = body["items"] as { experiment: string; outcome: string }[];
    expect(items.map(({ experiment }) => experiment)).toEqual(ids);
    expect(items.slice(0, 3)).toEqual([
      { experiment: "1", outcome: "changed", code: "", detail: "" },
      { experiment: "2", outcome: "refused", code: "experiment_not_ended", detail: "no" },
      { experiment: "3", outcome: "unchanged", code: "", detail: "" },
    ]);
    expect(
      acted.map(({ experiments, verb, reason, dryRun }) => [
        experiments.length,
        verb,
        reason,
        dryRun,
      ]),
    ).toEqual([
      [apiLimits.actedOnTogether, "archive", "old", true],
      [2, "archive", "old", true],
    ]);
    expect(new Set(commits).size).toBe(2);
  });

  test("has the same commit ids when it is repeated under one key after a failure", async () => {
    commits.length = 0;
    failing = true;
    const headers = { "idempotency-key": "bulk" };
    expect((await act({ experiments: ["1"] }, headers)).status).toBe(503);
    failing = false;
    expect((await act({ experiments: ["1"] }, headers)).status).toBe(200);
    expect(commits).toHaveLength(2);
    expect(new Set(commits).size).toBe(1);
  });

  test("is refused as a whole for an empty list, a repeated id, or too many ids", async () => {
    acted.length = 0;
    const many = Array.from({ length: apiLimits.actedOnMax + 1 }, (_, n) => `${n + 1}`);
    for (const experiments of [[], ["1", "1"], many]) {
      expect(await act({ experiments })).toMatchObject({
        status: 400,
        body: { code: "invalid_request" },
      });
    }
    const { body } = await act({ experiments: many });
    expect(body["detail"]).toBe("10001 experiments are named; one call may name 10000");
    expect(acted).toEqual([]);
  });
});
