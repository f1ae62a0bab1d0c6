import { Fault } from "@trainyard/kernel";
import { ManualClock } from "@trainyard/testing";
import { beforeEach, expect, test } from "vitest";
import { createLogger, type Logger } from "../logging.ts";

type Line = Readonly<Record<string, unknown>> & { readonly msg: string };

let clock: ManualClock;
let lines: Line[];
let logger: Logger;

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  logger = createLogger("gateway", "info", { clock, stream });
});

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), {
  code: "ECONNREFUSED",
});
const logAway = (doing: string): Fault =>
  new Fault("log_unavailable", `the log could not be reached while ${doing}: ${refused.message}`, {
    retry: "later",
    cause: refused,
  });

test("an outage of the database is one line a minute without a stack, with the number of those left out", async () => {
  for (let second = 0; second < 130; second += 1) {
    logger.warn({ err: logAway(`reading ${second}`), waitMs: 50 }, "view_retried");
    logger.warn({ err: refused, lease: "gateway/0" }, "lease_unreachable");
    logger.error({ err: logAway("reading") }, "term_failed");
    await clock.advance(1_000);
  }
  expect(lines).toHaveLength(3);
  const reason = `the log could not be reached while reading 0: ${refused.message}`;
  expect(lines[0]).toMatchObject({ level: "warn", msg: "view_retried", waitMs: 50, reason });
  expect(lines[0]).not.toHaveProperty("leftOut");
  expect(lines[1]).toMatchObject({ leftOut: 3 * 60 - 1 });
  expect(JSON.stringify(lines)).not.toContain("stack");
});

test("database and bus are two causes, and other faults are one cause for each reason", () => {
  const suggestion = (trial: string): Fault =>
    new Fault("worker_failed", `no suggestion for trial ${trial}`, { retry: "later" });
  for (let turn = 0; turn < 3; turn += 1) {
    logger.warn({ err: refused }, "view_retried");
    logger.warn({ err: new Fault("bus_away", "no bus", { retry: "later" }) }, "relay_retried");
    logger.warn({ err: suggestion("1.1") }, "suggestion_failed");
    logger.warn({ err: suggestion("1.2") }, "suggestion_failed");
  }
  expect(lines.map(({ msg, reason }) => [msg, reason])).toEqual([
    ["view_retried", refused.message],
    ["relay_retried", "no bus"],
    ["suggestion_failed", "no suggestion for trial 1.1"],
    ["suggestion_failed", "no suggestion for trial 1.2"],
  ]);
});

test("a bug keeps its stack, and each line of it is logged", () => {
  for (let turn = 0; turn < 3; turn += 1) {
    logger.error({ err: new TypeError("x is undefined") }, "request_failed");
    logger.warn({ agent: "a1" }, "agent_lost");
    logger.warn("text alone");
    logger.info({ position: turn }, "ready");
  }
  expect(lines).toHaveLength(12);
  expect(lines[0]?.["err"]).toMatchObject({
    stack: expect.stringContaining("TypeError") as string,
  });
});
