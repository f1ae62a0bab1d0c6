import { given } from "@trainyard/testing";
import { test } from "vitest";
import { logSignal } from "./log-signal.ts";

const data = {
  policy: "CUDA OOM",
  action: "cancel_retries",
  line: "CUDA out of memory",
  run: 2,
  agent: "gpu-7",
  nodeRank: 0,
  cursor: "17",
};
const matched = (fields: Partial<typeof data> = {}) =>
  ({ type: "LogPolicyMatched", data: { ...data, ...fields } }) as const;
const match = (fields: Partial<typeof data> = {}) =>
  ({ kind: "match", matched: { ...data, ...fields } }) as const;

test("the first line of a run's node that matches a policy is recorded", () => {
  given(logSignal).when(match()).then(matched());
});

test("a later match of the same node, run and policy is not recorded", () => {
  given(logSignal, matched())
    .when(match({ cursor: "18", line: "again" }))
    .thenNothing();
});

test("a match of another run, node, policy or action is recorded", () => {
  for (const other of [{ run: 3 }, { nodeRank: 1 }, { policy: "ECC" }, { action: "" }]) {
    given(logSignal, matched()).when(match(other)).then(matched(other));
  }
});

const line = { line: "OOM", run: 2, agent: "gpu-7", nodeRank: 0, cursor: "17", pattern: "OOM" };
const webhookMatched = (fields: object = {}) =>
  ({ type: "LogPatternMatched", data: { subscription: "oom", ...line, ...fields } }) as const;
const matchWebhook = (fields: object = {}) =>
  ({ kind: "matchWebhook", matched: { subscription: "oom", ...line, ...fields } }) as const;

test("a webhook's pattern is matched once for each node and run, beside a policy of its name", () => {
  given(logSignal, matched({ policy: "oom" }))
    .when(matchWebhook())
    .then(webhookMatched());
  given(logSignal, webhookMatched())
    .when(matchWebhook({ cursor: "18", pattern: "changed" }))
    .thenNothing();
  for (const other of [{ run: 3 }, { nodeRank: 1 }, { subscription: "other" }]) {
    given(logSignal, webhookMatched()).when(matchWebhook(other)).then(webhookMatched(other));
  }
});
