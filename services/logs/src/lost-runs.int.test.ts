/** Lines of a run whose name a lost history gave before. */
import { newEventId } from "@trainyard/event-log";
import { runtimeLimits } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { line } from "./testing/lines.ts";
import { type Grant, TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;

beforeAll(async () => {
  logs = await TestLogs.start();
  await logs.replica();
});
afterAll(() => logs[Symbol.asyncDispose]());

async function newGrant(): Promise<Grant> {
  const grantId = newEventId();
  const removed = { id: grantId, type: "PoolRemoved" as const, data: {} };
  return { grantPosition: await logs.stage.tell("pool-lost", removed), grantId };
}

test("the lines of a run whose grant the log lacks are refused for good, and those of a log that is not as far wait", async () => {
  const run = "31.1#1";
  const { grantPosition } = await newGrant();
  const lost = logs.token(run, { grantPosition, grantId: newEventId() });
  expect(await logs.write([line(run, 1, "lost")], [lost])).toMatchObject({
    kind: "rejected",
    rejection: { rejected: "history_lost" },
  });
  const ahead = logs.token(run, { grantPosition: grantPosition + 1_000, grantId: newEventId() });
  expect(await logs.write([line(run, 1, "ahead")], [ahead])).toEqual({ kind: "unavailable" });
  expect(await logs.texts({ task: "31" })).toEqual([]);
});

test("the first line of a run removes the lines that a lost run of its name left, and numbers count as new", async () => {
  const [run, other] = ["32.1#1", "32.1#2"];
  await logs.written([line(run, 1, "lost 1"), line(run, 2, "lost 2"), line(other, 1, "other")]);
  const token = logs.token(run, await newGrant());
  const write = (sequence: number, text: string) =>
    logs.write([line(run, sequence, text)], [token]);
  expect(await write(2, "own 2")).toMatchObject({ kind: "ok" });
  expect(await write(1, "own 1")).toMatchObject({ kind: "ok" });
  expect(await logs.texts({ task: "32" })).toEqual(["other", "own 2", "own 1"]);
  const [kept] = await logs.stage.sql<{ bytes: string }>(
    "select bytes from logs.experiments where experiment = '32'",
  );
  expect(Number(kept?.bytes)).toBe("other".length + "own 2".length + "own 1".length);
});

test("a log that went back while the service runs makes known runs lost within a second", async () => {
  const run = "33.1#1";
  const token = logs.token(run, await newGrant());
  const write = () => logs.write([line(run, 1, "text")], [token]);
  expect(await write()).toMatchObject({ kind: "ok" });
  await logs.stage.sql("alter table log.events disable trigger user");
  await logs.stage.sql("update log.events set id = gen_random_uuid() where stream = 'pool-lost'");
  await vi.waitFor(
    async () => expect(await write()).toMatchObject({ rejection: { rejected: "history_lost" } }),
    { timeout: 10 * runtimeLimits.grantsConfirmedMs },
  );
});
