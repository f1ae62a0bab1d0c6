/** The recipe of docs/integrate/kafka.md, run as it is printed there. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { mockKafka } from "./testing/kafka.ts";
import { experimentCreated } from "./testing/test-feeds.ts";

const guide = join(import.meta.dirname, "../../../docs/integrate/kafka.md");
// Below the package, so that the recipe finds kafkajs.
const cache = join(import.meta.dirname, "../node_modules/.cache");

async function recipe(): Promise<{ readonly program: string; readonly file: string }> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "recipe-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, "states.mjs");
  await writeFile(program, /```js\n(.*?)```/s.exec(readFileSync(guide, "utf8"))?.[1] ?? "");
  return { program, file: join(folder, "states.json") };
}

function start(program: string, file: string, brokers: readonly string[]): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    BROKERS: brokers.join(","),
    TOPIC: "events",
    FILE: file,
  };
  const child = spawn(process.execPath, [program], { env, stdio: "ignore" });
  onTestFinished(() => stop(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("the recipe for Kafka folds the states of experiments, and continues after it was killed", async ({
  skip,
}) => {
  await using kafka = await mockKafka(skip);
  await using stage = await DatabaseStage.start("feeds");
  const { program, file } = await recipe();
  const states = (): unknown =>
    existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).experiments : {};
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
  const killed = start(program, file, kafka.brokers);
  const open = { first: { name: "first", outcome: "" }, second: { name: "second", outcome: "" } };
  await expect
    .poll(states, { timeout: 20_000 })
    .toEqual({ "experiment-1": open.first, "experiment-2": open.second });
  await stop(killed);
  await stage.tell("experiment-2", {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  });
  start(program, file, kafka.brokers);
  await expect.poll(states, { timeout: 30_000 }).toEqual({
    "experiment-1": open.first,
    "experiment-2": { name: "second", outcome: "EXPERIMENT_OUTCOME_COMPLETED" },
  });
});
