/** Tests of the commands that change an experiment, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const iris = {
  id: "7",
  name: "iris",
  state: "ACTIVE",
  notes: "two\nlines \u001b[31m",
  etag: '"3"',
};

const acted = [
  { experiment: "7", outcome: "changed" },
  { experiment: "8", outcome: "unchanged" },
  { experiment: "9", outcome: "refused", code: "experiment_not_found", detail: "there is none" },
];

const deletion = {
  position: "7",
  graceEndMs: 1_790_000_000_000,
  checkpoints: 4,
  kept: [{ checkpoint: "c1", trial: "8.1", why: "a model pinned it" }],
};
const deletedOne = { id: "8", name: "iris", reason: "a mistake", graceEndMs: 1_790_000_000_000 };

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call, ifMatch }) => {
    if (ifMatch === '"1"') return problem(412, "stale_revision", "experiment 7: it was changed");
    if (call.endsWith("experiments:act")) return { body: { items: acted } };
    if (call.endsWith("/delete")) return { body: deletion };
    if (call.includes("experiments:deleted")) return { body: { items: [deletedOne] } };
    if (call.startsWith("GET")) return { body: iris };
    return { body: { position: "7", experiment: iris } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

function changes(): readonly unknown[] {
  const changing = gateway.requests.filter(({ call }) => call === "PATCH /api/v1/experiments/7");
  expect(changing.every(({ idempotencyKey }) => idempotencyKey !== undefined)).toBe(true);
  return changing.map(({ body }) => body);
}

test("an experiment is continued with the given trials or length", async () => {
  expect(await gateway.yard("experiment", "continue", "7")).toMatchObject({
    code: 0,
    lines: ["experiment 7 is ACTIVE"],
  });
  await gateway.yard("e", "continue", "7", "--max-trials", "20");
  await gateway.yard("e", "continue", "7", "--max-length", "9", "--unit", "epochs");
  const refused = await gateway.yard("e", "continue", "7", "--max-trials", "many");
  expect(refused.code).toBe(2);
  const bodies = gateway.requests.map(({ call, body }) => [call, body]);
  const call = "POST /api/v1/experiments/7/continue";
  expect(bodies).toEqual([
    [call, {}],
    [call, { maxTrials: 20 }],
    [call, { maxLength: 9, lengthUnit: "epochs" }],
  ]);
});

test("a deletion of an experiment prints the checkpoints that stay, is listed, and is undone", async () => {
  const deleted = await gateway.yard("experiment", "delete", "8", "--reason", "a mistake");
  expect(deleted.code).toBe(0);
  expect(deleted.lines[0]).toMatch(
    /^experiment 8: deleted, with 3 of its 4 checkpoints; it can be brought back until 20/,
  );
  expect(deleted.lines[1]).toBe("checkpoint c1 stays: a model pinned it");
  const preview = await gateway.yard("e", "delete", "8", "--dry-run");
  expect(preview.lines[0]).toBe("experiment 8: would be deleted, with 3 of its 4 checkpoints");
  expect((await gateway.yard("e", "deleted")).lines.join("\n")).toMatch(/8 +iris +20.*a mistake/);
  expect((await gateway.yard("e", "undelete", "8")).code).toBe(0);
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    ["POST /api/v1/experiments/8/delete", { reason: "a mistake" }],
    ["POST /api/v1/experiments/8/delete", { dryRun: true }],
    [expect.stringContaining("GET /api/v1/experiments:deleted"), null],
    ["POST /api/v1/experiments/8/undelete", {}],
  ]);
});

test("several experiments are deleted, the checkpoints that stay are printed first, and a refusal fails the command", async () => {
  const deleted = await gateway.yard("e", "delete", "7", "8", "9", "--reason", "old");
  expect(deleted.lines).toEqual([
    "checkpoint c1 of experiment 7 stays: a model pinned it",
    "experiment 7: delete, done",
    "experiment 8: nothing to change",
    "experiment 9: refused, there is none",
  ]);
  expect(deleted.code).toBe(1);
  const act = "POST /api/v1/experiments:act";
  const request = { experiments: ["7", "8", "9"], verb: "delete", reason: "old" };
  const asked = gateway.requests.map(({ call, body }) => [call, body]);
  expect(asked).toEqual([
    [act, { ...request, dryRun: true }],
    ["POST /api/v1/experiments/7/delete", { reason: "old", dryRun: true }],
    [act, request],
  ]);
  const preview = await gateway.yard("e", "delete", "7", "8", "9", "--dry-run");
  expect(preview.lines[1]).toBe("experiment 7: delete");
  const changing = gateway.requests.slice(3).filter(({ body }) => !isDryRun(body));
  expect(changing).toEqual([]);
});

const isDryRun = (body: unknown): boolean => (body as { dryRun?: boolean }).dryRun === true;

test("several experiments continue, or a preview prints the outcome for each", async () => {
  const preview = await gateway.yard("e", "continue", "7", "8", "9", "--dry-run");
  expect(preview.lines[0]).toBe("experiment 7: continue");
  const refused = await gateway.yard("e", "continue", "7", "8", "--max-trials", "3");
  expect(refused.code).toBe(2);
  const request = { experiments: ["7", "8", "9"], verb: "continue", dryRun: true };
  expect(gateway.requests.map(({ body }) => body)).toEqual([request]);
});

test("one trial is killed, and continued", async () => {
  expect(await gateway.yard("trial", "kill", "7.2", "--reason", "it diverges")).toMatchObject({
    code: 0,
  });
  expect(await gateway.yard("t", "restart", "7.2")).toMatchObject({
    code: 0,
    lines: ["trial 7.2 is taken up again"],
  });
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    ["POST /api/v1/trials/7.2/kill", { reason: "it diverges" }],
    ["POST /api/v1/trials/7.2/restart", {}],
  ]);
  expect(gateway.requests.every(({ idempotencyKey }) => idempotencyKey !== undefined)).toBe(true);
});

test("each setting of an experiment is changed by one request", async () => {
  const set = ["experiment", "set"] as const;
  expect(await gateway.yard(...set, "name", "7", "wide iris")).toMatchObject({
    code: 0,
    lines: ["experiment 7 is changed"],
  });
  await gateway.yard(...set, "description", "7", "");
  await gateway.yard(...set, "priority", "7", "1");
  await gateway.yard(...set, "weight", "7", "0.5");
  await gateway.yard(...set, "max-slots", "7", "4");
  await gateway.yard(...set, "max-slots", "7", "none");
  const policy = ["--save-experiment-best", "1", "--save-trial-best", "2"];
  await gateway.yard(...set, "gc-policy", "7", ...policy, "--save-trial-latest", "3");
  await gateway.yard("e", "label", "add", "7", "a", "b");
  await gateway.yard("e", "label", "remove", "7", "c");
  await gateway.yard("e", "note", "7", "lr was too high");
  expect(changes()).toEqual([
    { name: "wide iris" },
    { description: "" },
    { priority: 1 },
    { weight: 0.5 },
    { maxSlots: 4 },
    { maxSlots: 0 },
    { gcPolicy: { saveExperimentBest: 1, saveTrialBest: 2, saveTrialLatest: 3 } },
    { addLabels: ["a", "b"] },
    { removeLabels: ["c"] },
    { notes: "lr was too high" },
  ]);
});

test("a change with --if-match is refused if the experiment was changed since", async () => {
  const asked = ["experiment", "note", "7", "n", "--if-match"] as const;
  expect(await gateway.yard(...asked, '"1"')).toMatchObject({
    code: 2,
    err: "Experiment 7: it was changed.\n",
  });
  expect((await gateway.yard(...asked, '"3"')).code).toBe(0);
  expect((await gateway.yard("e", "label", "add", "7", "a", "--if-match", '"1"')).code).toBe(2);
});

test("notes are printed without control characters", async () => {
  expect((await gateway.yard("experiment", "note", "7")).lines).toEqual([
    "two",
    "lines \\u001b[31m",
  ]);
  expect(changes()).toEqual([]);
});

/** The titles of the table's columns. */
const shown = [
  "id",
  "name",
  "state",
  "phase",
  "progress",
  "estimated_end_at_ms",
  "trials",
  "trials_completed",
  "best_value",
  "metric",
  "created_at_ms",
]
  .map((field) => `&fields=${field}`)
  .join("");

test("an experiment is archived and unarchived, and lists are filtered", async () => {
  expect((await gateway.yard("experiment", "archive", "7")).lines).toEqual([
    "experiment 7 is ACTIVE",
  ]);
  await gateway.yard("experiment", "unarchive", "7");
  await gateway.yard("e", "ls", "--label", "a", "--label", "b", "--state", "error", "--archived");
  expect(gateway.requests.map(({ call }) => call.replace(/pageSize=\d+&/, ""))).toEqual([
    "POST /api/v1/experiments/7/archive",
    "POST /api/v1/experiments/7/unarchive",
    `GET /api/v1/experiments?labels=a&labels=b&states=ERROR&archived=true${shown}`,
  ]);
});

test("a fork has the given changes, checkpoint and file", async () => {
  const given = [
    "--set",
    "hyperparameters.lr=0.1",
    "--set",
    "name=a",
    "--checkpoint",
    "c",
    "--paused",
  ];
  expect(await gateway.yard("experiment", "fork", "7", ...given)).toMatchObject({
    code: 0,
    lines: ["created experiment 7"],
    err: `${gateway.url}/experiments/7\n`,
  });
  const { code, err } = await gateway.yard("e", "fork", "7", "--config", "/no/such.yaml");
  expect([code, err]).toEqual([2, "The configuration /no/such.yaml does not exist.\n"]);
  expect((await gateway.yard("e", "fork", "7", "--set", "lr")).err).toContain(
    "--set takes key=value",
  );
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    [
      "POST /api/v1/experiments/7/fork",
      { overrides: ["hyperparameters.lr=0.1", "name=a"], checkpoint: "c", paused: true },
    ],
  ]);
});

test("one verb on several experiments prints the outcome for each, and --dry-run changes nothing", async () => {
  const killed = await gateway.yard("experiment", "kill", "7", "8", "9");
  expect(killed).toMatchObject({
    code: 1,
    err: "1 of 3 experiments were refused.\n",
    lines: [
      "experiment 7: kill, done",
      "experiment 8: nothing to change",
      "experiment 9: refused, there is none",
    ],
  });
  const preview = await gateway.yard("experiment", "pause", "7", "--dry-run");
  expect(preview.lines[0]).toBe("experiment 7: pause");
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    [
      "POST /api/v1/experiments:act",
      { experiments: ["7", "8", "9"], verb: "kill", reason: "killed by a user" },
    ],
    ["POST /api/v1/experiments:act", { experiments: ["7"], verb: "pause", dryRun: true }],
  ]);
});

test("wrong usage of the experiment commands exits with 2 and sends nothing", async () => {
  for (const args of [
    ["set", "priority", "7", "soon"],
    ["set", "priority", "7", "0"],
    ["set", "weight", "7", "-1"],
    ["set", "max-slots", "7", "many"],
    ["set", "gc-policy", "7", "--save-trial-best", "1"],
    ["label", "add", "7"],
    ["set", "color", "7", "red"],
  ]) {
    expect((await gateway.yard("experiment", ...args)).code).toBe(2);
  }
  expect(gateway.requests).toEqual([]);
});
