/** Tests of the commands about tasks, with a simulated gateway. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type PlayedAnswer,
  type PlayedGateway,
  playGateway,
  problem,
} from "../testing/played-gateway.ts";

const task = {
  id: "t12",
  kind: "command",
  name: "echo hi",
  state: "QUEUED",
  reason: "the run needs 2 slots and 0 of 1 are free",
  owner: "ada",
  workspace: "default",
  pool: "default",
  slots: 2,
  priority: 42,
  ports: [{ port: 8080 }, { port: 22, isTcp: true }],
  createdAtMs: Date.UTC(2026, 10, 1),
  runs: [{ number: 1, state: "QUEUED", waitsFor: "the run needs 2 slots", placements: [] }],
};
const failed = { ...task, id: "t13", state: "ERROR", reason: "exit code 3\nlong", exitCode: 3 };

let gateway: PlayedGateway;
let folder: string;
let ended: object = failed;
/** How the task is used; null if its agent does not answer. */
let used: object | null = null;
/** The archive of the task's save; null for none. */
let packedSave: Buffer | null = null;

const line = (text: string, source: string) =>
  `id: ${text}\ndata: ${JSON.stringify({ trial: "t12", run: 1, text, source, cursor: text })}\n\n`;

const end = "event: end\ndata: {}\n\n";

function answer({ call, body }: { readonly call: string; readonly body: unknown }): PlayedAnswer {
  if (call === "POST /api/v1/tasks") {
    const { validateOnly = false } = body as { readonly validateOnly?: boolean };
    const warnings = ["ready_timeout has no effect on a command"];
    return { body: { warnings, position: "7", ...(validateOnly ? {} : { task }) } };
  }
  if (call.includes("logs:follow")) {
    return { events: line("one", "stdout") + line("two", "stderr") + line("three", "agent") + end };
  }
  if (call.startsWith("GET /api/v1/tasks/t12/logs")) {
    return { body: { items: [{ trial: "t12", text: "one" }] } };
  }
  if (call.startsWith("GET /api/v1/tasks/t12/checkpoints")) {
    return { body: { items: packedSave === null ? [] : [{ uuid: "c0ffee" }] } };
  }
  if (call.startsWith("GET /api/v1/checkpoints/")) return { body: packedSave ?? {} };
  if (call === "GET /api/v1/tasks/t12/use") {
    return used === null ? problem(503, "not_connected", "the agent is away") : { body: used };
  }
  if (call.startsWith("GET /api/v1/tasks/t12")) return { body: ended };
  if (call.startsWith("GET /api/v1/tasks/t13")) {
    return { body: { ...failed, lastLogLines: ["boom"] } };
  }
  if (call.startsWith("GET /api/v1/tasks")) return { body: { items: [failed, task] } };
  if (call === "DELETE /api/v1/tasks/t12") {
    return problem(409, "task_not_ended", "task t12 has not ended: kill it first");
  }
  return { body: { task: { ...task, id: "t13", state: "STOPPING" }, position: "8" } };
}

beforeEach(async () => {
  ended = failed;
  used = null;
  folder = await mkdtemp(join(tmpdir(), "trainyard-cli-"));
  gateway = await playGateway(answer);
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

test("a command is sent with its words, its file, its folder and its overrides", async () => {
  const config = join(folder, "task.yaml");
  await writeFile(config, "resources: {slots: 2}\n");
  const options = ["--config", config, "--context", folder, "--set", "name=x", "--workspace", "w"];
  const words = ["--", "python", "-c", "print(1)", "-f"];
  const { code, lines, err } = await gateway.yard("cmd", "run", ...options, ...words);
  expect([code, lines]).toEqual([0, ["created command t12"]]);
  expect(err).toBe(`warning: ready_timeout has no effect on a command\n${gateway.url}/tasks/t12\n`);
  const [{ body, idempotencyKey } = { body: {}, idempotencyKey: "" }] = gateway.requests;
  expect(idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toMatchObject({
    kind: "command",
    config: "resources: {slots: 2}\n",
    command: ["python", "-c", "print(1)", "-f"],
    overrides: ["name=x"],
    workspace: "w",
    context: expect.stringMatching(/^H4sI/),
  });
});

test("a followed command prints its output apart from its errors, and ends with its exit code", async () => {
  const { code, out, err } = await gateway.yard("cmd", "run", "-f", "--", "false");
  expect([code, out]).toEqual([3, "one\n"]);
  expect(err.split("\n").slice(1)).toEqual([
    "created command t12",
    `${gateway.url}/tasks/t12`,
    "two",
    "three",
    "Task t13 ended ERROR: exit code 3.",
    "",
  ]);
});

test.each([
  [{ ...failed, state: "COMPLETED", reason: "", exitCode: 0 }, 0],
  [{ ...failed, state: "KILLED", reason: "killed by a user", exitCode: undefined }, 1],
  [{ ...failed, exitCode: 255 }, 255],
])("a followed command that ended as %o ends with the exit code %i", async (found, code) => {
  ended = found;
  expect((await gateway.yard("cmd", "run", "-f", "--", "a")).code).toBe(code);
});

test("a shell is started only with --detach, and its id and page are printed", async () => {
  const words = ["--detach", "--set", "resources.slots=0"];
  const { code, lines, err } = await gateway.yard("shell", "start", ...words);
  expect([code, lines]).toEqual([0, ["created command t12"]]);
  expect(err).toContain(`${gateway.url}/tasks/t12`);
  expect(gateway.requests[0]?.body).toMatchObject({
    kind: "shell",
    overrides: ["resources.slots=0"],
  });
});

test("a task can be checked only", async () => {
  const { code, lines } = await gateway.yard("cmd", "run", "--dry-run", "--", "a");
  expect([code, lines]).toEqual([0, ["the command is valid"]]);
  expect(gateway.requests[0]?.body).toMatchObject({ validateOnly: true });
});

test.each([
  [["cmd", "run", "--dry-run", "-f"], "--dry-run cannot be combined with --follow."],
  [["cmd", "run", "--set", "x"], '--set takes key=value, not "x".'],
  [["cmd", "run", "--config", "/none.yaml"], "The configuration /none.yaml does not exist."],
  [["cmd", "run", "--context", "/none"], "The context folder /none does not exist."],
])("wrong usage is refused in a sentence: %j", async (words, sentence) => {
  const { code, err } = await gateway.yard(...words);
  expect([code, err]).toEqual([2, `${sentence}\n`]);
  expect(gateway.requests).toEqual([]);
});

test.each([
  [{ inUse: true, idleTimeoutSeconds: 1800 }, ["idle in use; ends after 30m without use"]],
  [{ idleSeconds: 720, idleTimeoutSeconds: 1800 }, ["idle ends in 18m unless it is used"]],
  [{ inUse: true, notice: "it is silent" }, ["notice it is silent"]],
  [{ inUse: true }, []],
  [null, []],
])("a running task is described with the time until it ends as idle: %j", async (use, told) => {
  ended = { ...task, state: "RUNNING", reason: "" };
  used = use;
  const { code, lines } = await gateway.yard("task", "describe", "t12");
  const words = lines.filter((one) => /^(idle|notice) /.test(one));
  expect([code, words]).toEqual([0, told]);
});

test("tasks are listed with the reason of their wait", async () => {
  const { lines } = await gateway.yard("task", "list", "--filter", "kind = command");
  expect(lines).toEqual([
    "TASK KIND NAME STATE EXIT POOL SLOTS OWNER CREATED WAITS",
    "t13 command echo hi ERROR 3 default 2 ada 2026-11-01 00:00:00",
    "t12 command echo hi QUEUED default 2 ada 2026-11-01 00:00:00 the run needs 2 slots and 0 of 1 are free",
  ]);
  expect(gateway.requests[0]?.call).toContain("filter=kind+%3D+command");
});

test("a task is described with its ports, its runs and its last lines", async () => {
  const { lines } = await gateway.yard("task", "describe", "t13");
  expect(lines).toEqual([
    "task t13",
    "kind command",
    "name echo hi",
    "state ERROR",
    "reason exit code 3",
    "exit code 3",
    "workspace default",
    "owner ada",
    "pool default",
    "slots 2",
    "priority 42",
    "ports 8080, 22 (TCP)",
    "restarts 0",
    "created 2026-11-01 00:00:00",
    "run 1 QUEUED the run needs 2 slots",
    "| boom",
  ]);
});

test("a task is described with its latest save, and with a folder that is not saved", async () => {
  const savedAtMs = Date.UTC(2026, 10, 2);
  const lastSave = { checkpoint: "c1", run: 2, files: 3, bytes: 9, savedAtMs };
  const unsaved = "the folder is larger than 10 GiB: it is in /data/t12 on a1 for a week";
  ended = {
    ...task,
    kind: "tensorboard",
    state: "PAUSED",
    lastSave,
    unsaved,
    sources: ["12", "13.4"],
  };
  const { lines } = await gateway.yard("task", "describe", "t12");
  expect(lines).toEqual(
    expect.arrayContaining([
      "state PAUSED",
      "sources 12 13.4",
      "saved 2026-11-02 00:00:00 by run 2: 3 files of 9 bytes, checkpoint c1",
      `unsaved ${unsaved}`,
    ]),
  );
});

test("the lines of a task are printed, and followed", async () => {
  expect((await gateway.yard("task", "logs", "t12")).out).toBe("one\n");
  const { out } = await gateway.yard("task", "logs", "-f", "t12", "--stream", "stderr");
  expect(out).toBe("one\ntwo\nthree\n");
  expect(gateway.requests.at(-1)?.call).toContain("source=stderr");
});

test("several tasks are killed or deleted; a refusal of one does not keep the others from it", async () => {
  const killed = await gateway.yard("task", "kill", "t13", "t14");
  expect(killed.lines).toEqual(["task t13: STOPPING", "task t14: STOPPING"]);
  const deleted = await gateway.yard("task", "delete", "t12", "t13");
  expect([deleted.code, deleted.lines]).toEqual([1, ["task t13: deleted"]]);
  expect(deleted.err).toBe(
    "task t12: refused, task t12 has not ended: kill it first\n1 of 2 tasks were not deleted.\n",
  );
  const one = await gateway.yard("task", "delete", "t12");
  expect([one.code, one.err]).toEqual([2, "Task t12 has not ended: kill it first.\n"]);
});

test("tasks are paused and resumed, and their state is printed", async () => {
  const paused = await gateway.yard("task", "pause", "t13");
  const resumed = await gateway.yard("task", "resume", "t13", "t14");
  expect([...paused.lines, ...resumed.lines]).toEqual([
    "task t13: STOPPING",
    "task t13: STOPPING",
    "task t14: STOPPING",
  ]);
  expect(gateway.requests.map(({ call }) => call)).toEqual([
    "POST /api/v1/tasks/t13/pause",
    "POST /api/v1/tasks/t13/resume",
    "POST /api/v1/tasks/t14/resume",
  ]);
});

test("-o json prints the messages of the API", async () => {
  const json = async (...words: string[]) =>
    JSON.parse((await gateway.yard("-o", "json", ...words)).out) as Record<string, unknown>;
  expect(await json("cmd", "run", "--", "a")).toMatchObject({ task: { id: "t12" }, position: "7" });
  expect(await json("task", "list")).toMatchObject({ items: [{ id: "t13" }, { id: "t12" }] });
  expect(await json("task", "describe", "t13")).toMatchObject({ id: "t13", exitCode: 3 });
  expect(await json("task", "kill", "t13")).toMatchObject({ task: { state: "STOPPING" } });
  expect(await json("task", "schema")).toMatchObject({ title: "Trainyard task" });
});

test("task download writes the folder of the newest intact save, and names a task that has none", async () => {
  await mkdir(join(folder, "save"));
  await writeFile(join(folder, "notes.txt"), "kept\n");
  await create({ cwd: folder, file: join(folder, "save", "small-1.tar") }, ["notes.txt"]);
  const told = { format: "trainyard-work/1", archives: ["small-1.tar"], large: [] };
  await writeFile(join(folder, "save", "work.json"), JSON.stringify(told));
  await create({ gzip: true, cwd: join(folder, "save"), file: join(folder, "save.tgz") }, ["."]);
  packedSave = await readFile(join(folder, "save.tgz"));
  const to = join(folder, "to");
  expect(await gateway.yard("task", "download", "t12", to)).toMatchObject({ code: 0 });
  expect(await readFile(join(to, "notes.txt"), "utf8")).toBe("kept\n");
  const [listed, archive] = gateway.requests.map(({ call }) => new URL(call.slice(4), "http://g"));
  expect(Object.fromEntries(listed?.searchParams ?? [])).toEqual({
    ...{ filter: "state = COMPLETED", orderBy: "steps_completed desc", pageSize: "1" },
  });
  expect(archive?.pathname).toBe("/api/v1/checkpoints/c0ffee/archive");
  packedSave = null;
  const { code, err } = await gateway.yard("task", "download", "t12", join(folder, "other"));
  expect([code, err.trim()]).toEqual([1, expect.stringContaining("Nothing of task t12 is saved")]);
});
