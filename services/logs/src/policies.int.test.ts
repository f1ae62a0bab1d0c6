import type { EventData } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { line, slowPattern, slowTexts } from "./testing/lines.ts";
import { TestLogs } from "./testing/test-logs.ts";

let logs: TestLogs;
let experiments = 1_000;

beforeAll(async () => {
  logs = await TestLogs.start();
  await logs.replica();
});

afterAll(async () => {
  await logs[Symbol.asyncDispose]();
});

type Policy = { readonly name?: string; readonly pattern?: string; readonly action?: string };

/** Creates an experiment with these policies. Returns its first trial. */
async function trialWith(...policies: readonly Policy[]): Promise<string> {
  experiments += 1;
  const data: EventData<"ExperimentCreated"> = {
    config: { log_policies: policies.map((policy) => ({ ...policy })) },
    configSourceDigest: "",
    contextDigest: "",
    contextBytes: 0,
    submissionDigest: "",
    tokenId: "",
    seed: 7,
    name: "",
    description: "",
    labels: [],
    owner: "",
    workspace: "",
    project: "",
  };
  await logs.stage.tell(`experiment-${experiments}`, { type: "ExperimentCreated", data });
  return `${experiments}.1`;
}

const oom = { name: "CUDA OOM", pattern: ".*CUDA out of memory.*", action: "cancel_retries" };
const ecc = { name: "ECC", pattern: "uncorrectable ECC", action: "exclude_node" };
const signalsOf = async (trial: string) =>
  (await logs.stage.events(`logsignal-${trial}`)).map(({ data }) => data);

describe("a line that matches a log policy", () => {
  test("is recorded before its batch is acknowledged, with run, agent, rank and the line's cursor", async () => {
    const trial = await trialWith(oom, ecc, { name: "seen", pattern: "epoch 3" });
    const text = "[rank=3] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate";
    await logs.written([
      line(`${trial}#2`, 1, "epoch 1"),
      line(`${trial}#2`, 2, text, { nodeRank: 1, rank: 3 }),
    ]);
    const { lines } = await logs.page({ task: trial, contains: "CUDA" });
    const where = { run: 2, agent: "agent-1", nodeRank: 1, rank: 3, cursor: lines[0]?.cursor };
    const matched = { policy: "CUDA OOM", action: "cancel_retries", line: text, ...where };
    expect(await signalsOf(trial)).toEqual([matched]);
    await logs.written([line(`${trial}#2`, 3, "epoch 3 of 9"), line(`${trial}#2`, 4, "epoch 30")]);
    expect(await signalsOf(trial)).toMatchObject([
      matched,
      { policy: "seen", action: "", line: "epoch 3 of 9", nodeRank: 0 },
    ]);
  });

  test("is recorded once per policy and node of a run, by any replica, and once more for another node", async () => {
    const trial = await trialWith(ecc);
    const text = "uncorrectable ECC error encountered";
    await using _other = await logs.replica();
    const sequences = Array.from({ length: 8 }, (_, n) => n);
    await Promise.all(sequences.map((n) => logs.written([line(`${trial}#1`, n, text)])));
    await logs.written([line(`${trial}#1`, 9, text, { nodeRank: 1 })]);
    await logs.written([line(`${trial}#2`, 1, text)]);
    const signals = (await signalsOf(trial)) as readonly EventData<"LogPolicyMatched">[];
    expect(signals.map(({ run, nodeRank }) => [run, nodeRank])).toEqual([
      [1, 0],
      [1, 1],
      [2, 0],
    ]);
  });

  test("is recorded on a resend when the service died after storing it", async () => {
    const trial = await trialWith(oom);
    const rows = [line(`${trial}#1`, 1, "CUDA out of memory")];
    // Renaming the events table leaves the lines stored and the event unwritten, like a crash between the two.
    await logs.stage.sql("alter table log.events rename to events_away");
    const answer = await logs.write(rows);
    await logs.stage.sql("alter table log.events_away rename to events");
    expect(answer.kind).not.toBe("ok");
    expect(await logs.texts({ task: trial })).toEqual(["CUDA out of memory"]);
    expect(await signalsOf(trial)).toEqual([]);
    await logs.written(rows);
    const { lines } = await logs.page({ task: trial });
    expect(await signalsOf(trial)).toMatchObject([{ cursor: lines[0]?.cursor }]);
    await logs.written(rows);
    expect(await signalsOf(trial)).toHaveLength(1);
  });
});

test("a policy without a pattern is off, and a policy without a name is named by its pattern", async () => {
  const trial = await trialWith({ name: "CUDA OOM" }, { pattern: "^x+$", action: "exclude_node" });
  await logs.written([line(`${trial}#1`, 1, "CUDA out of memory"), line(`${trial}#1`, 2, "xx")]);
  expect(await signalsOf(trial)).toMatchObject([{ policy: "^x+$", action: "exclude_node" }]);
});

test("a recorded policy with an invalid pattern is off, and its experiment's other policies still match", async () => {
  const trial = await trialWith({ name: "broken", pattern: "(", action: "cancel_retries" }, oom);
  await logs.written([line(`${trial}#1`, 1, "("), line(`${trial}#1`, 2, "CUDA out of memory")]);
  await logs.written([line(`${trial}#2`, 1, "(")]);
  expect(await logs.texts({ task: trial })).toHaveLength(3);
  expect(await signalsOf(trial)).toMatchObject([{ policy: "CUDA OOM" }]);
  expect(logs.warnings).toMatchObject([
    [{ policy: "broken", pattern: "(" }, "log_policy_not_compared"],
  ]);
});

test("a resent batch is not compared with the policies again", async () => {
  const trial = await trialWith({ name: "slow", pattern: slowPattern, action: "cancel_retries" });
  const lines = slowTexts(4).map((text, n) => line(`${trial}#1`, n, text));
  // Processor time, which other processes do not change.
  const timed = async () => {
    const start = process.cpuUsage();
    await logs.written(lines);
    return process.cpuUsage(start).user;
  };
  const first = await timed();
  expect(await timed()).toBeLessThan(first / 3);
});

test("an expression that hangs a backtracking engine delays no other run, and its run's lines are stored", async () => {
  const slow = await trialWith(
    { name: "slow", pattern: "(a+)+$", action: "cancel_retries" },
    ...Array.from({ length: 15 }, (_, n) => ({ pattern: `(a+)+[c-f]{${n + 1}}$` })),
  );
  const other = await trialWith(oom);
  const hostile = `${"a".repeat(16_383)}b`;
  const batches = Array.from({ length: 6 }, (_, batch) =>
    Array.from({ length: 40 }, (__, n) => line(`${slow}#1`, 40 * batch + n, hostile)),
  );
  const taken: number[] = [];
  const flood = Promise.all(
    batches.map(async (batch, number) => {
      await logs.written(batch);
      taken.push(number);
    }),
  );
  await logs.written([line(`${other}#1`, 1, "CUDA out of memory")]);
  // The six batches of 40 lines are compared with 16 expressions, which takes seconds.
  expect(taken.length).toBeLessThan(6);
  expect(await signalsOf(other)).toHaveLength(1);
  await flood;
  expect((await logs.page({ task: slow })).lines.length).toBeGreaterThan(0);
  await logs.written([line(`${slow}#1`, 500, "a".repeat(16_384))]);
  expect(await signalsOf(slow)).toHaveLength(1);
});
