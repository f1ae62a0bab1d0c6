import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { foldingServices } from "../api/cluster/verify.ts";
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
});

afterAll(() => gateway[Symbol.asyncDispose]());

const at = (position: number): string => `?minPosition=${position}`;

describe("the read model", () => {
  it("shows the state at the requested position or later", async () => {
    const position = await gateway.append("measurement-1.1", validation({ step: 1, loss: 0.5 }));
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({
      id: "1.1",
      state: "ACTIVE",
      bestValue: 0.5,
      latestValidation: { loss: 0.5 },
      origin: "model",
      proposalEvidence: { search_version: 4 },
    });
    const experiment = await gateway.call("GET", "/api/v1/experiments/1");
    expect(experiment.body).toMatchObject({ state: "ACTIVE", bestTrial: "1.1", bestValue: 0.5 });
  });

  it("keeps NaN, and never treats it as the best value", async () => {
    const position = await gateway.append(
      "measurement-1.1",
      validation({ step: 2, loss: Number.NaN }),
    );
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({ bestValue: 0.5, latestValidation: { loss: "NaN" } });
  });

  it("drops measurements that a restart superseded", async () => {
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

  it("ignores a late report of the previous run", async () => {
    const late = validation({ step: 4, loss: 0.01, run: 1 });
    const position = await gateway.append("measurement-1.1", late);
    const { body } = await gateway.call("GET", `/api/v1/trials/1.1${at(position)}`);
    expect(body).toMatchObject({ bestValue: 0.5 });
  });

  it("answers 404 for an unknown trial, and 503 for a position that is not reached in time", async () => {
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

describe("the stream of events", () => {
  it("starts after a position, and ends at the head of the log with noFollow", async () => {
    const { body } = await gateway.call("GET", "/api/v1/events?after=1&noFollow=true");
    const text = String(body["text"]);
    expect(text).toMatch(/^id: 2:/m);
    expect(text).not.toMatch(/^id: 1:/m);
    expect(text).toContain("event: end");
  });

  it("resumes after Last-Event-ID", async () => {
    const { body } = await gateway.call("GET", "/api/v1/events?noFollow=true", {
      headers: { "last-event-id": "3" },
    });
    expect(String(body["text"])).not.toMatch(/^id: 3:/m);
    expect(String(body["text"])).toMatch(/^id: 4:/m);
  });

  it("refuses an invalid position", async () => {
    expect((await gateway.call("GET", "/api/v1/events?after=soon")).status).toBe(400);
  });
});

describe("a verification of the log", () => {
  const verify = async () =>
    String((await gateway.call("POST", "/api/v1/log:verify", { body: {} })).body["text"]);
  const holds = { done: true, views: [] };
  const allHold = Object.fromEntries(foldingServices.map((service) => [service, [holds]]));

  it("reports every check, and no difference where log and read models agree", async () => {
    const index = {
      view: "checkpoint-gc.checkpoints",
      position: 7,
      finding: "",
      unverified: false,
    };
    await using _services = await gateway.verifying({
      ...allHold,
      "checkpoint-gc": [
        { done: false, views: [] },
        { done: true, views: [index] },
      ],
    });
    const found = await verify();
    expect(found).toContain('"check":"gateway.documents"');
    expect(found).toContain(
      '"check":"checkpoint-gc.checkpoints","checked":"7","done":false,"ok":true',
    );
    expect(found).toContain('"done":true,"ok":true');
  });

  it("names the first row that was altered", async () => {
    await using _services = await gateway.verifying(allHold);
    const where = "where kind = 'trial' and id = '1.1'";
    await gateway.sql(`create table public.kept as select * from gateway.documents ${where}`);
    await gateway.sql(`update gateway.documents set doc = '{}' ${where}`);
    const found = await verify();
    expect(found).toContain('that differs is documents (kind \\"trial\\", id \\"1.1\\"): doc is');
    expect(found).toContain('"done":true,"ok":false');
    await gateway.sql(`update gateway.documents set doc = (select doc from public.kept) ${where}`);
  });

  it("finds a missing checkpoint that belongs to no experiment", async () => {
    await using _services = await gateway.verifying(allHold);
    const about = { trial: "", run: 1, step: 0, storageId: "", uuid: "" };
    await gateway.append("checkpoint-of-task", {
      type: "CheckpointDeclared",
      data: { ...about, task: "t1" } as never,
    });
    const position = await gateway.append("checkpoint-of-person", {
      type: "CheckpointDeclared",
      data: { ...about, uploadedBy: "ada" } as never,
    });
    await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
    for (const id of ["of-task", "of-person"]) {
      const where = `where kind = 'checkpoint' and id = '${id}'`;
      await gateway.sql(
        `create table public."kept ${id}" as select * from gateway.documents ${where}`,
      );
      await gateway.sql(`delete from gateway.documents ${where}`);
      const told = `that differs is documents (kind \\"checkpoint\\", id \\"${id}\\"): it is missing`;
      expect(await verify()).toContain(told);
      await gateway.sql(`insert into gateway.documents select * from public."kept ${id}"`);
    }
  });

  it("finds no difference while events are appended, also with two replicas", async () => {
    await using _services = await gateway.verifying(allHold);
    await gateway.startAnother();
    let over = false;
    const writing = (async () => {
      for (let step = 100; !over; step += 1) {
        await gateway.append("measurement-1.1", validation({ step, loss: 0.25 }));
      }
    })();
    const found: string[] = [];
    try {
      while (found.length < 5) found.push(await verify());
    } finally {
      over = true;
      await writing;
    }
    for (const one of found) expect(one).toContain('"done":true,"ok":true');
  });

  it("reports the findings of other services", async () => {
    const finding = "the first row that differs is unfinished";
    const view = { view: "registry.unfinished", position: 3, finding, unverified: false };
    await using _services = await gateway.verifying({
      ...allHold,
      registry: [{ done: true, views: [view] }],
    });
    const found = await verify();
    expect(found).toContain(`"ok":false,"finding":"${finding}"`);
    expect(found).toContain('"done":true,"ok":false');
  });

  it("fails while a service is unavailable", async () => {
    const present = Object.entries(allHold).filter(([service]) => service !== "searcher");
    await using _services = await gateway.verifying(Object.fromEntries(present));
    const found = await verify();
    expect(found).toContain("the searcher service does not answer: start it, then verify again");
    expect(found).toContain('"unverified":true');
    expect(found).toContain('"done":true,"ok":false');
  });

  const anchored = async (anchor: object) =>
    await gateway.call("POST", "/api/v1/log:verify", { body: { skipViews: true, anchor } });

  it("compares the log with an anchor", async () => {
    const anchor = (await gateway.call("GET", "/api/v1/log:anchor")).body;
    expect(anchor).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { position } = anchor;
    const held = String((await anchored(anchor)).body["text"]);
    expect(held).toContain(
      `"check":"anchor","checked":"${String(position)}","done":false,"ok":true`,
    );
    expect(held).toContain('"done":true,"ok":true');
    const later = { ...anchor, position: String(Number(position) + 7) };
    const cut = String((await anchored(later)).body["text"]);
    expect(cut).toContain('"check":"anchor"');
    expect(cut).toContain("7 events up to the anchor");
    expect(cut).toContain('"done":true,"ok":false');
  });

  it("refuses an invalid anchor", async () => {
    expect((await anchored({ position: "soon", hash: "0".repeat(64) })).status).toBe(400);
    expect((await anchored({ position: "5", hash: "00" })).status).toBe(400);
  });

  it("reports a log whose time is ahead of the clock, and succeeds nevertheless", async () => {
    const newest = "position = (select max(position) from log.commits)";
    // The times are an hour ahead, as if a primary had a wrong clock. The hash of that commit is wrong then, so only
    // the check of times is run.
    await gateway.sql(`update log.commits set time_ms = time_ms + 3600000 where ${newest}`);
    const check = async () =>
      (await anchored({ position: "0", hash: "0".repeat(64) })).body["text"];
    const found = String(await check());
    await gateway.sql(`update log.commits set time_ms = time_ms - 3600000 where ${newest}`);
    expect(found).toMatch(/"check":"time","checked":"\d+","done":false,"ok":true/);
    expect(found).toMatch(/the newest event's time is 3\d\d\d s ahead/);
    const again = String(await check());
    expect(again).toContain('"done":true,"ok":true');
    expect(again).not.toContain('"check":"time"');
  });

  it("finds an event that was edited", async () => {
    await using _services = await gateway.verifying(allHold);
    await gateway.sql(
      "update log.events set body = replace(body, '0.5', '0.4') where type like '%ValidationReported%'",
    );
    expect(await verify()).toContain('"check":"chain"');
    await gateway.sql(
      "update log.events set body = replace(body, '0.4', '0.5') where type like '%ValidationReported%'",
    );
  });
});
