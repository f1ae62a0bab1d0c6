import { expect, test } from "vitest";
import { recordedConfig } from "./recorded.ts";
import { config, parsed, problems, yaml } from "./testing/documents.ts";

const cuda = { name: "CUDA OOM", pattern: ".*CUDA out of memory.*" };
const ecc = { name: "ECC Error", pattern: ".*uncorrectable ECC error encountered.*" };
const policiesOf = (text: string) => config(text).log_policies;

test("log policies take effect without a warning, and two built-in policies always exist", () => {
  const text = "log_policies: [{name: mine, pattern: a+b, action: exclude_node}]";
  expect(parsed(yaml(text)).warnings).toEqual([]);
  expect(policiesOf(text)).toEqual([
    { name: "mine", pattern: "a+b", action: "exclude_node" },
    cuda,
    ecc,
  ]);
  expect(policiesOf("")).toEqual([cuda, ecc]);
});

test("Determined's older form of an action is read, and so is a policy without a name", () => {
  const text = "log_policies: [{pattern: a, action: {type: cancel_retries}}]";
  expect(policiesOf(text)[0]).toEqual({ name: "a", pattern: "a", action: "cancel_retries" });
});

test("a policy with a built-in policy's name replaces it, and turns it off without a pattern", () => {
  const replaced = { ...cuda, action: "cancel_retries" };
  const own = "{name: CUDA OOM, pattern: '.*CUDA out of memory.*', action: cancel_retries}";
  expect(policiesOf(`log_policies: [${own}]`)).toEqual([replaced, ecc]);
  const named = policiesOf("log_policies: [{name: ECC Error, pattern: ''}]");
  expect(named).toEqual([{ name: "ECC Error", pattern: "" }, cuda]);
});

test("a record of any shape is read: malformed policies are left out, and a record without policies has the built-in ones", () => {
  const policies = [null, 7, { pattern: 3 }, { pattern: "a", action: ["x"] }];
  expect(recordedConfig({ log_policies: policies }).log_policies).toEqual([
    { name: "a", pattern: "a" },
  ]);
  for (const odd of [undefined, null, "x", {}, { log_policies: {} }]) {
    expect(recordedConfig(odd).log_policies).toEqual([cuda, ecc]);
  }
});

test.each([
  [
    "(",
    /^log_policies\[0\]\.pattern must be a regular expression in RE2's syntax: .*missing closing \)/,
  ],
  ["a(?=b)", /^log_policies\[0\]\.pattern must be a regular expression in RE2's syntax/],
  ["(a{900})", /^log_policies\[0\]\.pattern must be a simpler regular expression/],
  ["a".repeat(1_001), /^log_policies\[0\]\.pattern must be at most 1000 characters/],
])("a pattern that cannot be compared in bounded time is refused: %s", (pattern, sentence) => {
  expect(problems(yaml(`log_policies: [{name: a, pattern: '${pattern}'}]`))).toEqual([
    expect.stringMatching(sentence),
  ]);
});

test("retention_policy takes effect without a warning, and its days are recorded", () => {
  const text =
    "retention_policy: {log_retention_days: 90, metric_retention_days: 30, group_retention_days: {validation: -1}}";
  expect(parsed(yaml(text)).warnings).toEqual([]);
  expect(config(text).retention_policy).toEqual({
    log_retention_days: 90,
    metric_retention_days: 30,
    group_retention_days: { validation: -1 },
  });
  const none = { metric_retention_days: null, group_retention_days: {} };
  expect(config().retention_policy).toEqual({ log_retention_days: null, ...none });
});
