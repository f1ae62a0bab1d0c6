/** The complete service: with its database role, its migrated log, in real time. */
import { createPostgresLog } from "@trainyard/event-log";
import { createLogger } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseConfig } from "./config.ts";
import { snapshotSchema, writeSnapshot } from "./core/cluster/snapshot.ts";
import { limits } from "./limits.ts";
import { createService } from "./service.ts";
import { ClusterFollower, snapshotStream } from "./shell/follower.ts";
import { experimentCreated, runRequested, trialCreated } from "./testing/examples.ts";
import { ScriptedAgent } from "./testing/scripted-agent.ts";

let stage: DatabaseStage;

beforeAll(async () => {
  stage = await DatabaseStage.start("scheduler");
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

function configOf() {
  return parseConfig({
    ...stage.variables,
    TRAINYARD_RUN_TOKEN_KEY: "07".repeat(32),
    TRAINYARD_RUN_TOKEN_KEY_ID: "k1",
  });
}

async function namesOf(stream: string): Promise<readonly string[]> {
  return (await stage.events(stream)).map(({ type }) => type);
}

test("a run is placed within the time of its commits, without waiting for a beat, and after a restart too", async () => {
  const agent = new ScriptedAgent("a1", stage.hub.connect("a1"), 2);
  await agent.start();
  await stage.tell("experiment-1", experimentCreated());
  const tookMs: number[] = [];
  {
    await using service = await createService(configOf(), { bus: stage.hub.connect("scheduler") });
    await service.start();
    await vi.waitFor(
      async () => {
        agent.report();
        expect(await namesOf("agent-a1")).toEqual(["AgentJoined"]);
      },
      { timeout: 90_000, interval: 50 },
    );
    for (let trial = 1; trial <= 12; trial += 1) {
      await stage.tell(`trial-1.${trial}`, trialCreated(`1.${trial}`));
      const launched = agent.nextLaunch();
      const askedMs = performance.now();
      await stage.tell(`trial-1.${trial}`, runRequested(`1.${trial}#1`));
      await launched;
      tookMs.push(performance.now() - askedMs);
      agent.end(`1.${trial}#1`, { code: 0 });
    }
    await stage.tell("trial-1.13", trialCreated("1.13"), runRequested("1.13#1"));
    await vi.waitFor(async () => expect(agent.launched).toHaveLength(13), 90_000);
  }
  const median = tookMs.toSorted((a, b) => a - b)[6] ?? Number.POSITIVE_INFINITY;
  expect(median).toBeLessThan(limits.beatMs / 2);

  agent.end("1.13#1", { code: 0 });
  await using service = await createService(configOf(), { bus: stage.hub.connect("scheduler") });
  await service.start();
  await vi.waitFor(
    async () => {
      agent.report();
      expect(await namesOf("allocation-1.13#1")).toContain("AllocationEnded");
    },
    { timeout: 90_000, interval: 100 },
  );
  expect(service.readiness()).toBe(null);
});

test("the service's database role may save and load the fold", async () => {
  await using log = createPostgresLog({ connectionString: configOf().postgresUrl });
  await log.saveSnapshot("pool-scheduler", 7, "cluster/test", "{}");
  expect((await log.loadSnapshot("pool-scheduler", "cluster/test"))?.body).toBe("{}");
});

test("a saved fold that differs from the log is detected", async () => {
  await using service = await createService(configOf(), { bus: stage.hub.connect("scheduler") });
  await service.start();
  await using log = createPostgresLog({ connectionString: configOf().postgresUrl });
  const follower = await ClusterFollower.open(log, createLogger("scheduler", "silent"));
  const save = (text: string) =>
    log.saveSnapshot(snapshotStream, follower.cluster.position, snapshotSchema, text);
  const text = writeSnapshot(follower.cluster);
  await save(text);
  const found = async () => (await stage.verify())["scheduler.saved-cluster"];
  await vi.waitFor(async () => expect(await found()).toBe(""), 90_000);
  await stage.sql(
    'update log.snapshots set body = replace(body, \'"id":"a1"\', \'"id":"a2"\') where schema = $1',
    [snapshotSchema],
  );
  expect(await found()).toContain(
    "the first that differs is agent a1: it is missing, but a rebuild has",
  );
});
