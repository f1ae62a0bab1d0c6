import type { EventData } from "@trainyard/contracts";
import { SubscriptionDelivery } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { afterAll, beforeAll, expect, test } from "vitest";
import { line } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;

beforeAll(async () => {
  logs = await TestLogs.start();
  await create("early", "CUDA out of memory");
  await logs.replica();
});
afterAll(() => logs[Symbol.asyncDispose]());

const filterOf = (experiment: string) => ({
  ...{ types: [], object: "", id: "", experiment, workspace: "", label: "", where: [] },
});

const create = (name: string, logPattern: string, experiment = "") =>
  logs.stage.tell(`subscription-${name}`, {
    type: "SubscriptionCreated",
    data: {
      ...{ delivery: SubscriptionDelivery.WEBHOOK, after: 0, filter: filterOf(experiment) },
      webhook: { format: "slack", logPattern, namedOnly: false },
    },
  });

/** Sends lines of a run that was granted just now, and returns the batch for a resend. */
async function write(...lines: Parameters<TestLogs["written"]>[0]) {
  const grantId = newEventId();
  const granted = { id: grantId, type: "PoolRemoved", data: {} } as const;
  const grantPosition = await logs.stage.tell("pool-test", granted);
  const runs = new Set(lines.map(({ allocation }) => allocation));
  const tokens = [...runs].map((run) => logs.token(run, { grantPosition, grantId }));
  const again = () => logs.write(lines, tokens);
  expect(await again()).toMatchObject({ kind: "ok" });
  return again;
}

async function matchesOf(task: string): Promise<readonly EventData<"LogPatternMatched">[]> {
  const events = await logs.stage.events(`logsignal-${task}`);
  return events.flatMap((event) => (event.type === "LogPatternMatched" ? [event.data] : []));
}

test("a line that matches a webhook's pattern is recorded before its batch is acknowledged, of trials and tasks", async () => {
  const text = "torch.OutOfMemoryError: CUDA out of memory";
  await write(line("1.1#2", 1, "epoch 1"), line("1.1#2", 2, text, { nodeRank: 1 }));
  const { lines } = await logs.page({ task: "1.1", contains: "CUDA" });
  const where = { run: 2, agent: "agent-1", nodeRank: 1, cursor: lines[0]?.cursor };
  const pattern = "CUDA out of memory";
  expect(await matchesOf("1.1")).toEqual([
    { subscription: "early", line: text, pattern, ...where },
  ]);
  await write(line("t5#1", 1, text));
  expect(await matchesOf("t5")).toMatchObject([{ subscription: "early", run: 1, nodeRank: 0 }]);
});

test("a webhook that was created before a run was granted gets its match, and one of another experiment does not", async () => {
  await create("mine", "NaN", "2");
  await create("others", "NaN", "3");
  await write(line("2.1#1", 1, "loss is NaN"));
  expect(await matchesOf("2.1")).toMatchObject([{ subscription: "mine", pattern: "NaN" }]);
});

test("a webhook's match is recorded once for each node of a run, by any replica", async () => {
  await using _other = await logs.replica();
  const send = (run: number, sequence: number, nodeRank = 0) =>
    logs.written([line(`4.1#${run}`, sequence, "CUDA out of memory", { nodeRank })]);
  await Promise.all(Array.from({ length: 8 }, (_, n) => send(1, n)));
  await send(1, 9, 1);
  await send(2, 1);
  const found = await matchesOf("4.1");
  expect(found.map(({ run, nodeRank }) => [run, nodeRank])).toEqual([
    [1, 0],
    [1, 1],
    [2, 0],
  ]);
});

test("a webhook's match is recorded once on a resend when the service died after storing the line", async () => {
  const rows = [line("5.1#1", 1, "CUDA out of memory")];
  await logs.stage.sql("alter table log.events rename to events_away");
  const answer = await logs.write(rows);
  await logs.stage.sql("alter table log.events_away rename to events");
  expect(answer.kind).not.toBe("ok");
  expect(await matchesOf("5.1")).toEqual([]);
  await logs.written(rows);
  await using _next = await logs.replica();
  await logs.written(rows);
  await logs.written(rows);
  expect(await matchesOf("5.1")).toHaveLength(1);
});

test("a disabled or deleted webhook's pattern is not matched, and an invalid one disturbs no other", async () => {
  await create("broken", "(");
  await logs.stage.tell("subscription-early", {
    type: "SubscriptionDisabled",
    data: { reason: "", by: "admin" },
  });
  const again = await write(line("6.1#1", 1, "(CUDA out of memory"));
  expect(await matchesOf("6.1")).toEqual([]);
  await logs.stage.tell("subscription-early", {
    type: "SubscriptionEnabled",
    data: { by: "admin" },
  });
  await write(line("6.2#1", 1, "(CUDA out of memory"));
  expect(await matchesOf("6.2")).toMatchObject([{ subscription: "early" }]);
  expect(await again()).toMatchObject({ kind: "ok" });
  expect(logs.warnings).toMatchObject([
    [{ webhook: "broken", pattern: "(" }, "webhook_pattern_not_compared"],
  ]);
});
