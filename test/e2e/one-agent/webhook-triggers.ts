/** Tests the triggers of webhooks from the command line to the list of deliveries. Nobody receives the events. */
import type { Plain } from "@trainyard/contracts";
import type { ListDeliveriesResponse } from "@trainyard/contracts/api";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const url = "https://receiver.invalid/hook";

const create = (name: string, ...options: readonly string[]) =>
  world.yard("webhook", "create", name, url, ...options);

/** Starts a command of a shell and returns its task. */
async function command(slots: number, script: string): Promise<string> {
  const words = ["--set", `resources.slots=${slots}`, "--", "sh", "-c", script];
  const { out } = await world.yard("cmd", "run", ...words);
  return /created command (t\d+)/.exec(out)?.[1] ?? "";
}

async function sentOf(webhook: string): Promise<readonly (readonly [string, string])[]> {
  const page = await world.json("webhook", "deliveries", webhook);
  const { items } = page as Plain<ListDeliveriesResponse>;
  return items.map(({ type, subject }) => [type, subject]);
}

test("a log line and a long wait trigger webhooks, once for each run", async () => {
  expect((await create("oom", "--log-pattern", "out of (memory|luck)")).code).toBe(0);
  expect((await create("slow", "--queue-wait", "1s")).code).toBe(0);
  const holder = await command(4, "echo out of luck; echo out of memory; sleep 600");
  await eventually("the log line was recorded", async () => (await sentOf("oom")).length > 0);
  const waiting = await command(4, "echo out of luck");
  await eventually("the long wait was recorded", async () => (await sentOf("slow")).length > 0);
  expect((await world.yard("task", "kill", holder)).code).toBe(0);
  await eventually("the line of the next run was recorded", async () => {
    return (await sentOf("oom")).length > 1;
  });
  const matched = "dev.trainyard.logsignal.LogPatternMatched.v1";
  expect(await sentOf("oom")).toEqual([
    [matched, `logsignal-${waiting}`],
    [matched, `logsignal-${holder}`],
  ]);
  const exceeded = "dev.trainyard.subscription.QueueWaitExceeded.v1";
  expect(await sentOf("slow")).toEqual([[exceeded, "subscription-slow"]]);
  for (const name of ["oom", "slow"]) await world.yard("webhook", "delete", name);
});

test("a wrong pattern or wait of a webhook is refused in one sentence", async () => {
  const pattern = await create("bad", "--log-pattern", "(");
  expect([pattern.code, pattern.err.trim().split("\n")]).toEqual([2, [expect.any(String)]]);
  expect(pattern.err).toMatch(/^log_pattern must be a regular expression in RE2's syntax/im);
  const wait = await create("bad", "--queue-wait", "soon");
  expect([wait.code, wait.err.trim().split("\n")]).toEqual([2, [expect.any(String)]]);
});
