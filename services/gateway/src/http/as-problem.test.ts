import { Fault } from "@trainyard/kernel";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { asProblem } from "./as-problem.ts";

/** Returns the status of an answer, and the codes under which the error was logged. */
function answered(error: unknown) {
  const logged: unknown[] = [];
  const logger = createLogger("gateway", "silent");
  for (const level of ["warn", "error"] as const) {
    logger[level] = (_fields: unknown, code?: string) => void logged.push(code);
  }
  return { status: asProblem(error, logger, "1").status, logged };
}

test("a query that the database does not answer in time is a 503, and no bug", () => {
  const answer = answered(new Error("Query read timeout"));
  expect(answer).toEqual({ status: 503, logged: ["database_too_slow"] });
});

test("a body whose client breaks the connection is not logged as an outage of the database", () => {
  const reset = { code: "ECONNRESET" };
  // The server gives the errors of a request's socket this status.
  const ofClient = Object.assign(new Error("aborted"), { ...reset, statusCode: 400 });
  expect(answered(ofClient)).toEqual({ status: 400, logged: [] });
  const ofDatabase = Object.assign(new Error("read ECONNRESET"), reset);
  expect(answered(ofDatabase)).toEqual({ status: 503, logged: ["database_unreachable"] });
});

test("a full disk of the stored code is a 503 that says so", () => {
  const cause = new Error("ENOSPC: no space left on device, write");
  const full = new Fault("blob_store_failed", "contexts/a cannot be stored", {
    retry: "later",
    cause,
  });
  const problem = asProblem(full, createLogger("gateway", "silent"), "1");
  expect(problem).toMatchObject({
    status: 503,
    message: "contexts/a cannot be stored: ENOSPC: no space left on device, write; try again",
  });
});

test("a full disk of the database is a 503 that says so", () => {
  const full = new Fault("log_full", "could not extend file", { retry: "later" });
  const problem = asProblem(full, createLogger("gateway", "silent"), "1");
  expect(problem.message).toBe(
    "the disk of the database is full, so nothing can be recorded until it has space again",
  );
});
