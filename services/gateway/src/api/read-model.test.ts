import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  created,
  requested,
  searchStarted,
  trialCreated,
  validation,
} from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({ name: "with \u0000 in it" }), {
    type: "ExperimentActivated",
    data: {},
  });
  await gateway.append("search-1", searchStarted());
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

const at = (position: number): string => `?minPosition=${position}`;

describe("the read model", () => {
  it("shows what was written up to the position that is asked for", async () => {
    const position = await gateway.append("measurement-1.1", validation({ step: 1, loss: 0.5 }));
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({
      id: "1.1",
      state: "ACTIVE",
      bestValue: 0.5,
      latestValidation: { loss: 0.5 },
    });
    const experiment = await gateway.call("GET", "/api/v1/experiments/1");
    expect(experiment.body).toMatchObject({ state: "ACTIVE", bestTrial: "1.1", bestValue: 0.5 });
  });

  it("keeps NaN, and never takes it for the best", async () => {
    const position = await gateway.append(
      "measurement-1.1",
      validation({ step: 2, loss: Number.NaN }),
    );
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({ bestValue: 0.5, latestValidation: { loss: "NaN" } });
  });

  it("forgets what a restart superseded", async () => {
    await gateway.append("measurement-1.1", validation({ step: 3, loss: 0.1 }));
    await gateway.append("trial-1.1", requested(2, 2));
    const position = await gateway.append("measurement-1.1", {
      type: "MeasurementsSuperseded",
      data: { run: 2, afterStep: 2 },
    });
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({ bestValue: 0.5, latestValidation: { loss: "NaN" } });
    const experiment = await gateway.call("GET", "/api/v1/experiments/1");
    expect(experiment.body).toMatchObject({ bestValue: 0.5 });
  });

  it("does not count a report of the run before", async () => {
    const late = validation({ step: 4, loss: 0.01, run: 1 });
    const position = await gateway.append("measurement-1.1", late);
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({ bestValue: 0.5 });
  });

  it("says 404 of what is not there, and 503 of a position that does not come", async () => {
    expect(await gateway.call("GET", "/api/v1/trials/9.9")).toMatchObject({
      status: 404,
      body: { code: "trial_not_found" },
    });
    const behind = await gateway.call("GET", `/api/v1/trials/1.1${at(1_000_000)}`);
    expect(behind.status).toBe(503);
  });

  it("lists in pages, newest experiments first", async () => {
    for (const id of [2, 3]) await gateway.append(`experiment-${id}`, created({}));
    const position = await gateway.append("experiment-4", created({}));
    const first = await gateway.call("GET", `/api/v1/experiments${at(position)}&pageSize=3`);
    expect((first.body["items"] as { id: string }[]).map(({ id }) => id)).toEqual(["4", "3", "2"]);
    const token = String(first.body["nextPageToken"]);
    const second = await gateway.call("GET", `/api/v1/experiments?pageSize=3&pageToken=${token}`);
    expect(second.body).toMatchObject({ items: [{ id: "1" }], nextPageToken: "" });
  });
});

describe("events", () => {
  it("come as server-sent events from a position on, and end at the head when asked to", async () => {
    const { body } = await gateway.call("GET", "/api/v1/events?after=1&noFollow=true");
    const text = String(body["text"]);
    expect(text).toContain("id: 2\n");
    expect(text).not.toContain("id: 1\n");
    expect(text).toContain("event: end");
  });

  it("resume after Last-Event-ID", async () => {
    const { body } = await gateway.call("GET", "/api/v1/events?noFollow=true", {
      headers: { "last-event-id": "3" },
    });
    expect(String(body["text"])).not.toContain("id: 3\n");
    expect(String(body["text"])).toContain("id: 4\n");
  });

  it("refuse what is no position", async () => {
    expect((await gateway.call("GET", "/api/v1/events?after=soon")).status).toBe(400);
  });
});

describe("verification", () => {
  const verify = async () =>
    String((await gateway.call("POST", "/api/v1/log:verify", { body: {} })).body["text"]);

  it("finds nothing in a log and a read model that hold", async () => {
    expect(await verify()).toContain('"done":true,"ok":true');
  });

  it("names the first row that was altered", async () => {
    const doc = "select doc from gateway.documents where kind = 'trial' and id = '1.1'";
    const { rows } = await gateway.sql(doc);
    await gateway.sql(
      "update gateway.documents set doc = '{}' where kind = 'trial' and id = '1.1'",
    );
    const found = await verify();
    expect(found).toContain("the first row that differs is trial 1.1");
    expect(found).toContain('"done":true,"ok":false');
    const whole = String(rows[0]?.doc).replaceAll("'", "''");
    await gateway.sql(
      `update gateway.documents set doc = '${whole}' where kind = 'trial' and id = '1.1'`,
    );
  });

  it("finds an event that was edited", async () => {
    await gateway.sql(
      "update log.events set body = replace(body, '0.5', '0.4') where type like '%ValidationReported%'",
    );
    expect(await verify()).toContain('"check":"chain"');
    await gateway.sql(
      "update log.events set body = replace(body, '0.4', '0.5') where type like '%ValidationReported%'",
    );
  });
});
