import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { afterAll, beforeAll } from "vitest";
import { eventLogContract } from "../contract.ts";
import { emptyLog, prepareServer } from "./postgres-harness.ts";

let server: TestPostgres;
beforeAll(async () => {
  server = await startTestPostgres();
  await prepareServer(server);
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

eventLogContract("postgres", { create: () => emptyLog(server) });
