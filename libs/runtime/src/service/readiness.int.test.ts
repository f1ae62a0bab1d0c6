import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import { CutPort } from "@trainyard/testing";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Partition } from "../leadership/partition.ts";
import { openParts, openTables } from "./parts.ts";
import { type ListeningService, serviceOf } from "./service-of.ts";
import { DatabaseStage } from "../testing/database-stage.ts";

const http = { host: "127.0.0.1", port: 0 };
const migrations = mkdtempSync(join(tmpdir(), "trainyard-migrations-"));
const patience = { lookMs: 20, awayMs: 200 };
/** A machine with other work answers later. */
const soon = { timeout: 10_000 };

let stage: DatabaseStage;
let nats: TestNats;
let database: CutPort;

beforeAll(async () => {
  writeFileSync(join(migrations, "0001_things.sql"), "create table experiments.things (id int);\n");
  [stage, nats] = await Promise.all([DatabaseStage.start("experiments"), startNats()]);
  database = await CutPort.open(Number(new URL(stage.url()).port));
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await Promise.all([stage[Symbol.asyncDispose](), nats[Symbol.asyncDispose]()]);
});

async function serviceAs(role: string, lines: string[] = []): Promise<ListeningService> {
  const url = new URL(stage.url(role));
  url.port = String(database.port);
  const stream = {
    write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg),
  };
  const config = { postgresUrl: url.href, nats: { url: nats.url }, http, logLevel: "silent" };
  const logger = pino({ level: "info" }, stream);
  const parts = await openParts("experiments", config, { logger, patience });
  const tables = { pool: openTables(parts, config, {}), migrations };
  const begin = async () => ({ reactions: { handlers: {} }, commands: {} });
  return serviceOf(parts, { http, tables, partition: new Partition(parts.name, 0, parts, begin) });
}

async function answer(service: ListeningService, path: string): Promise<string> {
  const response = await fetch(`${service.address()}${path}`);
  return `${response.status} ${(await response.text()).trim()}`;
}

const changesIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line === "ready" || line === "not_ready");

test("a service says on /readyz which server is away, lives on, and is ready again without a restart", async () => {
  const lines: string[] = [];
  await using service = await serviceAs("ty_experiments", lines);
  await service.start();
  await expect.poll(() => answer(service, "/readyz"), soon).toBe("200 ok");
  await database.cut();
  await expect
    .poll(() => answer(service, "/readyz"), soon)
    .toMatch(/^503 the database has been away for \d+ s \(.*ECONNREFUSED.*\)$/);
  expect(await answer(service, "/livez")).toBe("200 ok");
  await expect.poll(() => changesIn(lines), soon).toEqual(["ready", "not_ready"]);
  await database.mend();
  await expect.poll(() => answer(service, "/readyz"), soon).toBe("200 ok");
  await nats.stop();
  await expect
    .poll(() => answer(service, "/readyz"), soon)
    .toMatch(/^503 the bus has been away for \d+ s \(nats:\/\/127.0.0.1:\d+ does not answer\)$/);
  expect(await answer(service, "/livez")).toBe("200 ok");
  const changes = ["ready", "not_ready", "ready", "not_ready"];
  await expect.poll(() => changesIn(lines), soon).toEqual(changes);
  await nats.start();
  await expect.poll(() => answer(service, "/readyz"), soon).toBe("200 ok");
  await expect.poll(() => changesIn(lines), soon).toEqual([...changes, "ready"]);
});

test("a service that starts while the database is away waits for it, and says so at its address", async () => {
  const lines: string[] = [];
  await using service = await serviceAs("ty_experiments", lines);
  await database.cut();
  const started = service.start();
  await expect.poll(() => service.address()).not.toBe("");
  expect(await answer(service, "/readyz")).toMatch(
    /^503 starting: the database has not answered yet \(.*ECONNREFUSED.*\)$/,
  );
  expect(await answer(service, "/livez")).toBe("200 ok");
  const call = await fetch(`${service.address()}/api/v1/experiments`);
  expect(call.status).toBe(503);
  expect(call.headers.get("retry-after")).toBe("1");
  expect(lines).not.toContain("ready");
  await database.mend();
  await started;
  await expect.poll(() => answer(service, "/readyz"), soon).toBe("200 ok");
});

test("a service that waits for the database ends when it is asked to", async () => {
  const service = await serviceAs("ty_experiments");
  await database.cut();
  const started = service.start();
  await expect.poll(() => service.address()).not.toBe("");
  await service[Symbol.asyncDispose]();
  await expect(started).rejects.toThrow("ECONNREFUSED");
  await database.mend();
});

test("a service with a role that does not exist does not wait", async () => {
  await using service = await serviceAs("ty_nobody");
  await expect(service.start()).rejects.toThrow('role "ty_nobody" does not exist');
});
