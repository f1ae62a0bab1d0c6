/** Tests of the commands about the queues, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const job = {
  job: "12",
  pool: "default",
  workspace: "research",
  owner: "ada",
  priority: 42,
  weight: 1,
  maxSlots: 4,
  runsWaiting: 1,
  runsPlaced: 1,
  slotsHeld: 2,
  slotsWanted: 8,
  slotsBorrowed: 1,
  jobsAhead: 1,
};
const runs = [
  {
    run: "12.1#1",
    placements: [{ agent: "rack", slots: ["0", "1"], nodeRank: 0 }],
    reason: "agent_lost",
    detail: "its agent rack is lost",
  },
  {
    run: "12.3#1",
    resources: { pool: "default", slots: 8 },
    queuedAtMs: Date.UTC(2026, 0, 2),
    reason: "quota",
    detail: "its workspace holds 16 of 16 slots",
    limit: "quota of research: 16 slots",
    ahead: 2,
    blockers: ["7.1#1", "7.2#1"],
    preemptions: 0,
    startsWhen: "when runs of research end, or its quota is raised",
  },
];

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.startsWith("GET /api/v1/jobs/12")) return { body: { job, runs } };
    if (call.startsWith("GET /api/v1/jobs/13")) {
      const many = Array.from({ length: 64 }, (_, n) => ({ ...runs[1], run: `13.${n + 1}#1` }));
      return { body: { job: { ...job, job: "13", runsWaiting: 19_974 }, runs: many } };
    }
    if (call.startsWith("GET /api/v1/jobs/14")) {
      return problem(404, "job_not_found", "experiment 14 has ended: it is COMPLETED");
    }
    if (call.startsWith("GET /api/v1/jobs")) return { body: { items: [job] } };
    if (call.startsWith("GET /api/v1/experiments/")) {
      return { body: { id: call.split("/").at(-1), state: "ACTIVE" } };
    }
    return { body: { position: "7" } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

test("jobs are listed in queue order, of one pool or of all", async () => {
  expect((await gateway.yard("job", "list")).lines).toEqual([
    "JOB POOL WORKSPACE OWNER PRIORITY WEIGHT MAX SLOTS HELD WANTED PLACED WAITING AHEAD",
    "12 default research ada 42 1 4 2 8 1 1 1",
  ]);
  await gateway.yard("job", "list", "--pool", "default");
  expect(gateway.requests.map(({ call }) => call)).toEqual([
    "GET /api/v1/jobs?pageSize=500",
    "GET /api/v1/jobs?pool=default&pageSize=500",
  ]);
});

test("a job is explained with the reason, the blockers, and the condition on which each run can start", async () => {
  expect((await gateway.yard("job", "explain", "12")).lines).toEqual([
    "job 12",
    "pool default",
    "workspace research",
    "owner ada",
    "priority 42",
    "weight 1",
    "max slots 4",
    "runs 1 placed, 1 waiting",
    "slots 2 held, 1 of them on loan, 8 wanted",
    "jobs ahead 1",
    "",
    "run 12.1#1",
    "runs on rack[0,1]",
    "state its agent rack is lost",
    "",
    "run 12.3#1",
    "waits since 2026-01-02 00:00:00",
    "wants 8 slots",
    "reason its workspace holds 16 of 16 slots",
    "limit quota of research: 16 slots",
    "runs ahead 2",
    "slots held by 7.1#1, 7.2#1",
    "starts when runs of research end, or its quota is raised",
  ]);
  const { out } = await gateway.yard("job", "explain", "12", "-o", "json");
  expect(JSON.parse(out)).toMatchObject({ job: { job: "12" }, runs: [{}, { reason: "quota" }] });
});

test("an explanation and a description say how many runs they leave out", async () => {
  const explained = (await gateway.yard("job", "explain", "13")).lines;
  expect(explained.filter((line) => line.startsWith("run 13."))).toHaveLength(64);
  expect(explained.slice(-2)).toEqual(["", "and 19911 more runs"]);
  const described = (await gateway.yard("experiment", "describe", "13")).lines;
  expect(described.at(-1)).toBe("and 19969 more: yard job explain 13");
});

test("an experiment that has ended is explained with its state", async () => {
  expect(await gateway.yard("job", "explain", "14")).toMatchObject({
    code: 2,
    err: "Experiment 14 has ended: it is COMPLETED.\n",
  });
});

test("the description of an experiment says why its runs wait, and leaves that out if the scheduler does not answer", async () => {
  const { lines } = await gateway.yard("experiment", "describe", "12");
  expect(lines).toContain("run 12.3#1 waits: its workspace holds 16 of 16 slots");
  expect(lines.join("\n")).not.toContain("12.1#1");
  expect(await gateway.yard("experiment", "describe", "14")).toMatchObject({ code: 0, err: "" });
});

test("an update of a job sends the named settings, and --max-slots none removes the limit", async () => {
  const args = ["--priority", "10", "--weight", "2.5", "--max-slots", "none"];
  expect(await gateway.yard("job", "update", "12", ...args)).toMatchObject({
    code: 0,
    lines: ["experiment 12 is updated in the queue"],
  });
  await gateway.yard("job", "update", "12", "--max-slots", "4");
  const key = expect.stringMatching(/./);
  expect(gateway.requests).toEqual([
    {
      call: "PATCH /api/v1/jobs/12",
      body: { priority: 10, weight: 2.5, maxSlots: 0 },
      idempotencyKey: key,
    },
    { call: "PATCH /api/v1/jobs/12", body: { maxSlots: 4 }, idempotencyKey: key },
  ]);
});

test("a job is moved ahead of or behind another one", async () => {
  expect((await gateway.yard("job", "move", "12", "--ahead-of", "14")).lines).toEqual([
    "experiment 12 is ahead of 14 in the queue",
  ]);
  expect((await gateway.yard("job", "move", "12", "--behind", "14")).lines).toEqual([
    "experiment 12 is behind 14 in the queue",
  ]);
  expect(gateway.requests.map(({ call, body }) => [call, body])).toEqual([
    ["POST /api/v1/jobs/12/move", { anchor: "14", ahead: true }],
    ["POST /api/v1/jobs/12/move", { anchor: "14" }],
  ]);
});

test("wrong usage of the job commands exits with 2 and one sentence, and changes nothing", async () => {
  const refused = async (...args: readonly string[]) => {
    const { code, err } = await gateway.yard("job", ...args);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused("update", "12")).toBe(
    "Give at least one of --priority, --weight and --max-slots.\n",
  );
  expect(await refused("update", "12", "--max-slots", "0")).toBe(
    '--max-slots takes a whole number, at least 1, not "0".\n',
  );
  expect(await refused("update", "12", "--weight", "heavy")).toBe(
    '--weight takes a number above 0, not "heavy".\n',
  );
  expect(await refused("move", "12")).toBe("Give one of --ahead-of and --behind.\n");
  expect(await refused("move", "12", "--ahead-of", "1", "--behind", "2")).toBe(
    "Give one of --ahead-of and --behind.\n",
  );
  expect(gateway.requests).toEqual([]);
});
