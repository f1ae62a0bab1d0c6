/** The recipes of docs/integrate/kafka.md, run as they are printed there. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { withClient } from "@trainyard/event-log/testing";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { mockKafka } from "./testing/kafka.ts";
import { experimentCreated } from "./testing/test-feeds.ts";

const guide = join(import.meta.dirname, "../../../docs/integrate/kafka.md");
// Below the package, so that the recipe finds kafkajs.
const cache = join(import.meta.dirname, "../node_modules/.cache");

/** Writes the programs of the page into a folder, and returns it. */
async function recipes(): Promise<string> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "recipe-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const programs = readFileSync(guide, "utf8").matchAll(/^```js (\S+)\n(.*?)^```$/gms);
  for (const [, name = "", text = ""] of programs) await writeFile(join(folder, name), text);
  return folder;
}

function start(program: string, variables: NodeJS.ProcessEnv): ChildProcess {
  const env = { PATH: process.env["PATH"], TOPIC: "events", ...variables };
  const child = spawn(process.execPath, [program], { env, stdio: "ignore" });
  onTestFinished(() => stop(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("the recipes for Kafka fold states and fill a table, each event once, and continue after they were killed", async ({
  skip,
}) => {
  await using kafka = await mockKafka(skip);
  await using stage = await DatabaseStage.start("feeds");
  const folder = await recipes();
  const variables = {
    BROKERS: kafka.brokers.join(","),
    FILE: join(folder, "states.json"),
    DATABASE: stage.url(),
  };
  const states = (): unknown =>
    existsSync(variables.FILE) ? JSON.parse(readFileSync(variables.FILE, "utf8")).experiments : {};
  const rows = () =>
    withClient(stage.url(), async (client) => {
      const text = "select sequence::int, stream, body from trainyard_events order by sequence";
      return (await client.query(text).catch(() => ({ rows: [] }))).rows;
    });
  const startBoth = (group: string) => [
    start(join(folder, "states.mjs"), variables),
    start(join(folder, "table.mjs"), { ...variables, GROUP: group }),
  ];
  await using service = await createService(
    parseConfig({
      ...stage.variables,
      TRAINYARD_FEEDS_KAFKA_BROKERS: kafka.brokers.join(","),
      TRAINYARD_FEEDS_KAFKA_TOPIC: "events",
    }),
    { bus: stage.hub.connect("feeds") },
  );
  await stage.tell("experiment-1", experimentCreated({ name: "first" }));
  await stage.tell("experiment-2", experimentCreated({ name: "second" }));
  await service.start();
  const killed = startBoth("table");
  const open = { first: { name: "first", outcome: "" }, second: { name: "second", outcome: "" } };
  const created = [
    { sequence: 1, stream: "experiment-1", body: expect.objectContaining({ name: "first" }) },
    { sequence: 2, stream: "experiment-2", body: expect.objectContaining({ name: "second" }) },
  ];
  await expect
    .poll(states, { timeout: 20_000 })
    .toEqual({ "experiment-1": open.first, "experiment-2": open.second });
  await expect.poll(rows, { timeout: 20_000 }).toEqual(created);
  await Promise.all(killed.map(stop));
  await stage.tell("experiment-2", {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  });
  // A group of another name has no place in the topic, so that each event comes again.
  const again = startBoth("again");
  const outcome = "EXPERIMENT_OUTCOME_COMPLETED";
  const ended = { sequence: 3, stream: "experiment-2", body: { outcome } };
  await expect.poll(rows, { timeout: 30_000 }).toEqual([...created, ended]);
  await expect.poll(states, { timeout: 30_000 }).toEqual({
    "experiment-1": open.first,
    "experiment-2": { name: "second", outcome },
  });
  await Promise.all(again.map(stop));
  expect(await rows()).toEqual([...created, ended]);
});
