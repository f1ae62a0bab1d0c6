import { expect, test } from "vitest";
import { inheritedByUser } from "../users/inherited.ts";
import { experimentsOf, ownerOf, parseUserRange, rangesProblem, taskOwnerOf } from "./run-user.ts";

const range = { first: 20_000, last: 20_099 };

test("no two experiments share a user, and none has the first id, which the agent's probe uses", () => {
  const ids = Array.from({ length: experimentsOf(range) }, (_, n) => ownerOf(range, String(n + 1)));
  expect(new Set(ids.map(({ uid }) => uid)).size).toBe(99);
  expect(ids[0]).toEqual({ uid: 20_001, gid: 20_001 });
  expect(ids.at(-1)).toEqual({ uid: 20_099, gid: 20_099 });
});

test.each(["100", "9999999999999999", "0", "-1", "1e3", "", "7; id"])(
  "experiment %j, beyond the range or without a valid number, has no user",
  (experiment) => {
    expect(() => ownerOf(range, experiment)).toThrow(/has no user/);
  },
);

test("a task has a user of the second range, and without one it has a sentence", () => {
  const tasks = { first: 30_000, last: 30_099 };
  expect(taskOwnerOf(tasks, "t12")).toEqual({ uid: 30_012, gid: 30_012 });
  expect(() => taskOwnerOf(tasks, "t100")).toThrow("has ids for tasks t1 to t99");
  expect(() => taskOwnerOf(tasks, "12")).toThrow("has no user");
  expect(() => taskOwnerOf(null, "t12")).toThrow("set TRAINYARD_AGENT_TASK_USER_IDS");
});

test.each([
  [range, null, null],
  [range, { first: 20_100, last: 20_199 }, null],
  [range, { first: 10_000, last: 19_999 }, null],
  [range, { first: 20_099, last: 20_199 }, "both contain 20099"],
  [range, { first: 10_000, last: 30_000 }, "both contain 20000"],
  [null, { first: 20_100, last: 20_199 }, "set both, or neither"],
])(
  "ranges of experiments and tasks go together only without a common id (%j, %j)",
  (experiments, tasks, said) => {
    const problem = rangesProblem(experiments, tasks);
    if (said === null) expect(problem).toBeNull();
    else expect(problem).toContain(said);
  },
);

test.each([
  ["", null],
  ["20000-29999", { first: 20_000, last: 29_999 }],
  ["1900000000-4294967294", { first: 1_900_000_000, last: 4_294_967_294 }],
])("the range %j is accepted", (text, expected) => {
  expect(parseUserRange(text)).toEqual(expected);
});

test.each([
  ["20000", "FIRST-LAST"],
  ["0-100", "below 1000"],
  ["20000-4294967295", "highest user id"],
  ["20000-20000", "above the first"],
  ["60000-70000", "nobody"],
  ["-5-10", "FIRST-LAST"],
])("the range %j is refused", (text, said) => {
  expect(() => parseUserRange(text)).toThrow(said);
});

test("a run with a user inherits the usual variables, and those that the agent's settings name", () => {
  const inherited = {
    PATH: "/bin",
    LC_ALL: "C",
    https_proxy: "http://proxy",
    CUDA_HOME: "/cuda",
    HOME: "/root",
    SSH_AUTH_SOCK: "/run/agent",
    AWS_SECRET_ACCESS_KEY: "hush",
    HF_HOME: "/cache",
    TRAINYARD_NATS_PASSWORD: "hush",
  };
  const usual = ["PATH", "LC_ALL", "https_proxy", "CUDA_HOME"];
  expect(Object.keys(inheritedByUser(inherited, []))).toEqual(usual);
  expect(Object.keys(inheritedByUser(inherited, ["HF_HOME", "AWS_*"]))).toEqual([
    ...usual,
    "AWS_SECRET_ACCESS_KEY",
    "HF_HOME",
  ]);
});
