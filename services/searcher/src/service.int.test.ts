import { SearchCompletion, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import { createPostgresLog } from "@trainyard/event-log";
import { FoldCache, type Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { exampleConfig, experimentCreated, trialEnded } from "./testing/examples.ts";
import { createService } from "./service.ts";
import { searches } from "./streams.ts";

let stage: DatabaseStage;
let service: Service;

beforeAll(async () => {
  stage = await DatabaseStage.start("searcher");
  service = await start();
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

async function start(): Promise<Service> {
  const created = await createService(parseConfig(stage.variables), {
    bus: stage.hub.connect("searcher"),
  });
  await created.start();
  return created;
}

async function types(stream: string): Promise<readonly string[]> {
  return (await stage.events(stream)).map(({ type }) => type);
}

test("a created experiment gets a search, which proposes the next trial when one ends", async () => {
  await stage.tell("experiment-1", experimentCreated());
  await expect
    .poll(() => types("search-1"))
    .toEqual(["SearchStarted", "TrialProposed", "TrialProposed"]);
  await stage.tell("trial-1.2", trialEnded(TrialOutcome.COMPLETED));
  await expect
    .poll(() => types("search-1"))
    .toEqual([
      "SearchStarted",
      "TrialProposed",
      "TrialProposed",
      "TrialOutcomeRecorded",
      "TrialProposed",
    ]);
});

test("a search whose experiment was stopped while the service was down is canceled when it is back", async () => {
  await stage.tell("experiment-2", experimentCreated());
  await expect.poll(() => types("search-2")).toHaveLength(3);
  await service[Symbol.asyncDispose]();
  await stage.tell("experiment-2", {
    type: "ExperimentStopRequested",
    data: { kind: StopKind.KILL, reason: "" },
  });
  service = await start();
  await expect
    .poll(async () => (await stage.events("search-2")).at(-1))
    .toMatchObject({ type: "SearchCompleted", data: { reason: SearchCompletion.CANCELED } });
});

test("a search with a model proposes the suggestions of the model's thread", async () => {
  const example = experimentCreated();
  const searcher = { ...exampleConfig.searcher, name: "gp", max_trials: 500 };
  const config = { ...exampleConfig, searcher: { ...searcher, max_concurrent_trials: 8 } };
  await stage.tell("experiment-4", { ...example, data: { ...example.data, config } });
  const proposals = async () =>
    (await stage.events("search-4")).filter(({ type }) => type === "TrialProposed");
  // The thread may start slowly, and a free place does not wait for it. So any of the proposals may be the first by the
  // model.
  for (let trial = 1; trial <= 400; trial += 1) {
    await expect.poll(async () => (await proposals()).length).toBe(trial + 7);
    if ((await proposals()).some(({ data }) => "origin" in data && data.origin === "model")) return;
    const id = `4.${trial}`;
    const report = {
      trial: id,
      run: 0,
      step: 1,
      scalars: { loss: trial },
      reportKey: "0",
      nonNumeric: [],
    };
    await stage.tell(`measurement-${id}`, { type: "ValidationReported", data: report });
    await stage.tell(`trial-${id}`, trialEnded(TrialOutcome.COMPLETED));
  }
  expect.fail("the model has suggested nothing");
});

test("a budget of time ends a search without reports, also after a restart", async () => {
  const { type, data } = experimentCreated();
  const policy = { name: "budget", max_wall_time: 1, max_slot_hours: null, max_trials: null };
  const config = { ...data.config, early_stopping: [policy] };
  await stage.tell("experiment-5", { type, data: { ...data, config } });
  await expect.poll(() => types("search-5")).toContain("SearchStarted");
  await service[Symbol.asyncDispose]();
  service = await start();
  await expect
    .poll(() => types("search-5"))
    .toEqual([
      "SearchStarted",
      "TrialProposed",
      "TrialProposed",
      "SearchTimeNoted",
      "SearchStopDecided",
      "TrialStopDecided",
      "TrialStopDecided",
    ]);
  for (const trial of ["5.1", "5.2"]) {
    await stage.tell(`trial-${trial}`, trialEnded(TrialOutcome.STOPPED_EARLY));
  }
  await expect.poll(async () => (await types("search-5")).at(-1)).toBe("SearchCompleted");
});

test("a verification detects a saved search that differs from its stream", async () => {
  await stage.tell("experiment-3", experimentCreated());
  await expect.poll(() => types("search-3")).toHaveLength(3);
  expect(await stage.verify()).toEqual({
    "searcher.asking-searches": "",
    "searcher.search-snapshots": "",
  });
  await using log = createPostgresLog({
    connectionString: parseConfig(stage.variables).postgresUrl,
  });
  const cache = new FoldCache(log);
  await cache.saveSnapshot(searches, "3");
  expect(await stage.verify()).toEqual({
    "searcher.asking-searches": "",
    "searcher.search-snapshots": "",
  });
  await stage.sql(
    "update log.snapshots set body = replace(body, '\"seed\":', '\"seed\":1') where stream = 'search-3'",
  );
  expect((await stage.verify())["searcher.search-snapshots"]).toContain(
    "the saved state of search-3 at version 3 is",
  );
});

test("the snapshot of a search is deleted with its experiment, and that of another search stays", async () => {
  await using log = createPostgresLog({
    connectionString: parseConfig(stage.variables).postgresUrl,
  });
  const saved = () =>
    stage.sql("select stream from log.snapshots where stream like 'search-6%' order by stream");
  for (const experiment of ["6", "61"]) {
    await stage.tell(`experiment-${experiment}`, experimentCreated());
    await expect.poll(() => types(`search-${experiment}`)).toHaveLength(3);
    await new FoldCache(log).saveSnapshot(searches, experiment);
  }
  expect(await saved()).toHaveLength(2);
  await stage.tell("experiment-6", { type: "ExperimentDeleted", data: {} });
  await expect.poll(saved).toEqual([{ stream: "search-61" }]);
});
