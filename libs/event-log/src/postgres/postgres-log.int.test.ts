import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterAll, beforeAll } from "vitest";
import { eventLogContract } from "../contract.ts";
import { dividePartitions, emptyLog, prepareServer } from "../testing/postgres-harness.ts";

let server: TestPostgres;
let divided: TestPostgres;
beforeAll(async () => {
  [server, divided] = await Promise.all([startTestPostgres(), startTestPostgres()]);
  await Promise.all([prepareServer(server), prepareServer(divided)]);
  // The longest test of the suite appends 300 events.
  await dividePartitions(divided, 7, 50);
});
afterAll(() => Promise.all([server[Symbol.asyncDispose](), divided[Symbol.asyncDispose]()]));

eventLogContract("postgres", { create: () => emptyLog(server) });
eventLogContract("postgres in partitions of seven events", { create: () => emptyLog(divided) });
