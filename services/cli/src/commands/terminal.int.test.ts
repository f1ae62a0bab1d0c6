/** Tests of terminals and executed programs: the command line in a real terminal, with a simulated gateway. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";
import { type PlayedConnection, type PlayedHolder, playHolder } from "../testing/played-holder.ts";

const task = { id: "t12", kind: "shell", state: "RUNNING", reason: "" };
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let holder: PlayedHolder;
let gateway: PlayedGateway;
let states: { readonly state: string; readonly reason: string }[];
let answer: (message: { type: string; text: string }, connection: PlayedConnection) => void;

beforeEach(async () => {
  states = [];
  holder = playHolder((message, connection) => answer(message, connection));
  gateway = await playGateway(
    ({ call }) =>
      call === "GET /api/v1/tasks/t12"
        ? { body: { ...task, ...states.shift() } }
        : problem(404, "task_not_found", "there is no such task"),
    holder.upgrade,
  );
});
afterEach(() => gateway[Symbol.asyncDispose]());

type Shown = AsyncDisposable & {
  readonly type: (keys: string) => void;
  readonly process: ChildProcess;
  /** Waits until the terminal has shown the text. */
  readonly shows: (text: string) => Promise<void>;
  readonly shown: () => string;
  readonly end: () => Promise<{ readonly code: number; readonly same: boolean }>;
};

/** Runs the command line in a terminal of its own. */
function inTerminal(...words: readonly string[]): Shown {
  const yard = [process.execPath, path("../main.ts"), ...words];
  const child = spawn("python3", [path("../testing/in_terminal.py"), ...yard], {
    env: { ...process.env, TRAINYARD_URL: gateway.url, TRAINYARD_TOKEN: "t" },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  const closed = once(child, "close");
  return {
    process: child,
    type: (keys) => void child.stdin.write(keys),
    shown: () => out,
    shows: (text) => vi.waitFor(() => expect(out).toContain(text), { timeout: 10_000 }),
    async end() {
      await closed;
      return JSON.parse(err) as { code: number; same: boolean };
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await closed;
    },
  };
}

/** Answers as the holder of a terminal does: with the size, the screen, and each input as output. */
function playTerminal({ type, text }: { type: string; text: string }, to: PlayedConnection): void {
  if (type === "hello") {
    to.send("opened", { name: "main", columns: 80, rows: 24 });
    to.send("sized", { columns: 80, rows: 24, offset: 0 });
    to.send("screen", `screen ${holder.connections.length}$ `);
  } else if (type === "input" && text.includes("x")) to.send("ended", { code: 3 });
  else if (type === "input") to.send("output", `<${text}>`);
}

test("a terminal is shown, gets each key and its size, and ends with the code of its program", async () => {
  answer = playTerminal;
  states = [{ state: "QUEUED", reason: "the run needs 1 slot\nand more" }];
  await using shown = inTerminal("shell", "open", "t12");
  await shown.shows("task t12: QUEUED, the run needs 1 slot\r\n");
  await shown.shows("screen 1$ ");
  const [connection] = holder.connections;
  expect(connection?.path).toBe("/api/v1/tasks/t12/streams/terminal");
  expect(JSON.parse(connection?.got[0]?.text ?? "")).toEqual({
    open: "terminal",
    name: "main",
    columns: 80,
    rows: 24,
  });
  shown.type("\x03");
  await shown.shows("<\x03>");
  shown.process.kill("SIGUSR1");
  await vi.waitFor(() =>
    expect(connection?.got.at(-1)).toEqual({ type: "size", text: '{"columns":100,"rows":30}' }),
  );
  shown.type("x");
  expect(await shown.end()).toEqual({ code: 3, same: true });
  expect(shown.shown()).toContain("The terminal main of task t12 ended with code 3.");
});

test("a wait for the task's place is left by Ctrl-C, and the task continues", async () => {
  answer = playTerminal;
  states = Array.from({ length: 100 }, () => ({ state: "QUEUED", reason: "no slot is free" }));
  await using shown = inTerminal("shell", "open", "t12");
  await shown.shows("no slot is free");
  shown.type("\x03");
  expect(await shown.end()).toEqual({ code: 0, same: true });
  expect(shown.shown()).toContain("detached; the task continues");
});

test("a broken connection is said in one line, and the next one shows the present screen", async () => {
  answer = playTerminal;
  await using shown = inTerminal("shell", "open", "t12", "--terminal", "work");
  await shown.shows("screen 1$ ");
  holder.connections[0]?.cut();
  await shown.shows("screen 2$ ");
  expect(shown.shown().match(/not connected, trying again/g)).toHaveLength(1);
  shown.type("\r~.");
  expect(await shown.end()).toEqual({ code: 0, same: true });
  expect(shown.shown()).toContain(
    "left task t12, which continues; back with: yard shell open t12 --terminal work",
  );
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "the local terminal is restored at %s",
  async (signal) => {
    answer = (message, to) => {
      playTerminal(message, to);
      to.send("output", "\x1b[?1049h\x1b[?1003hfull");
    };
    await using shown = inTerminal("shell", "open", "t12");
    await shown.shows("full");
    shown.process.kill(signal === "SIGTERM" ? "SIGTERM" : "SIGUSR2");
    const { same } = await shown.end();
    expect(same).toBe(true);
    expect(shown.shown()).toMatch(/full\x1b\[\?1049l.*\x1b\[\?1003l/s);
  },
);

test("the local terminal is restored after a refusal, which is one sentence", async () => {
  answer = (_message, to) => to.send("refused", { code: "ending", detail: "the task is ending" });
  await using shown = inTerminal("shell", "open", "t12");
  expect(await shown.end()).toEqual({ code: 1, same: true });
  expect(shown.shown()).toBe("The task is ending.\r\n");
});

test("a program in a terminal is left by ~., which ends it", async () => {
  answer = ({ type }, to) => type === "hello" && to.send("output", "top");
  await using shown = inTerminal("task", "exec", "-t", "t12", "--", "top");
  await shown.shows("top");
  expect(JSON.parse(holder.connections[0]?.got[0]?.text ?? "")).toMatchObject({
    open: "exec",
    command: ["top"],
    terminal: true,
    columns: 80,
  });
  shown.type("~.");
  expect(await shown.end()).toEqual({ code: 1, same: true });
});

/** Runs the command line with pipes. */
async function piped(input: string, ...words: readonly string[]) {
  const child = spawn(process.execPath, [path("../main.ts"), ...words], {
    env: { ...process.env, TRAINYARD_URL: gateway.url, TRAINYARD_TOKEN: "t" },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

test("an executed program gets the input, and its output, errors and exit code are apart", async () => {
  answer = ({ type }, to) => {
    if (type !== "endOfInput") return;
    to.send("output", "out\n");
    to.send("errorOutput", "err\n");
    to.send("ended", { code: 7 });
  };
  const words = ["--env", "A=1=2", "--dir", "sub", "--", "sh", "-c", "cat"];
  expect(await piped("to the program", "task", "exec", "t12", ...words)).toEqual({
    code: 7,
    out: "out\n",
    err: "err\n",
  });
  const [hello, ...input] = holder.connections[0]?.got ?? [];
  expect(JSON.parse(hello?.text ?? "")).toEqual({
    open: "exec",
    command: ["sh", "-c", "cat"],
    environment: { A: "1=2" },
    directory: "sub",
  });
  expect(input.map(({ text }) => text).join("")).toBe("to the program");
});

test.each([
  [{ signal: "SIGTERM" }, 143],
  [{ code: 0 }, 0],
])("a program that ended as %j gives the exit code %i", async (ended, code) => {
  answer = ({ type }, to) => type === "hello" && to.send("ended", ended);
  expect(await piped("", "task", "exec", "t12", "--", "true")).toEqual({ code, out: "", err: "" });
});

test.each([
  [["task", "exec", "t12", "--env", "x", "--", "a"], '--env takes key=value, not "x".', 2],
  [
    ["task", "exec", "-t", "t12", "--", "a"],
    "The standard input and output are no terminal. Leave out -t.",
    2,
  ],
  [
    ["shell", "open", "t12"],
    "The standard input and output are no terminal. yard task exec works without one.",
    2,
  ],
  [["task", "exec", "t13", "--", "a"], "There is no such task.", 2],
  [
    ["shell", "start"],
    "The standard input and output are no terminal. With --detach it is started only.",
    2,
  ],
])("%j is refused in a sentence", async (words, sentence, code) => {
  expect(await gateway.yard(...words)).toMatchObject({ code, err: `${sentence}\n` });
});

test("an ended task, a broken connection and a program that cannot start are failures", async () => {
  states = [{ state: "ERROR", reason: "exit code 3" }];
  expect((await gateway.yard("task", "exec", "t12", "--", "a")).err).toBe(
    "Task t12 has ended ERROR: exit code 3.\n",
  );
  answer = (_message, to) => to.cut();
  expect(await piped("", "task", "exec", "t12", "--", "a")).toMatchObject({
    code: 1,
    err: "The connection broke: the program gets SIGHUP.\n",
  });
  answer = (_message, to) =>
    to.send("refused", { code: "cannot_start", detail: "a cannot be started" });
  expect(await piped("", "task", "exec", "t12", "--", "a")).toMatchObject({
    code: 1,
    err: "a cannot be started.\n",
  });
});
