/** Tests of `yard task open`, with a simulated gateway. */
import { createServer, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Duplex } from "node:stream";
import { systemClock } from "@trainyard/kernel/system-clock";
import { WebSocketDoor } from "@trainyard/tunnel";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type PlayedAnswer,
  type PlayedGateway,
  type PlayedRequest,
  playGateway,
  problem,
} from "../testing/played-gateway.ts";

const door = new WebSocketDoor();
const expiresAtMs = Date.UTC(2026, 10, 1, 12);
const page = createServer((request, response) => {
  response.end(`${request.headers.host} ${request.url}`);
});

let gateway: PlayedGateway;
let state: object;
let hasDomain: boolean;
/** How the gateway answers each connection of a browser: null if it passes it on. */
let refusal: { readonly status: number; readonly detail: string } | null;

function answer({ call, body }: PlayedRequest): PlayedAnswer {
  if (call.startsWith("GET /api/v1/tasks/t12")) return { body: { id: "t12", ...state } };
  if (call !== "POST /api/v1/tasks/t12/sessions") return problem(404, "x", "there is no task t13");
  const { port = 0, localPort = 0 } = body as Record<"port" | "localPort", number | undefined>;
  if (port === 22) return problem(404, "port_not_declared", "22 is none of the HTTP ports");
  if (localPort === 0 && !hasDomain) return problem(409, "no_task_domain", "no domain");
  const host = localPort === 0 ? "t12.tasks.example" : `t12.localhost:${localPort}`;
  return { body: { url: `http://${host}/.trainyard/open#code=${port}`, expiresAtMs } };
}

function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const known = request.headers.authorization === "Bearer t";
  if (refusal === null && known && request.url === "/api/v1/tasks/t12/streams/page") {
    door.accept(request, socket, head, { clock: systemClock }, (stream) => {
      page.emit("connection", stream);
    });
    return;
  }
  const body = JSON.stringify({ code: "no", ...(refusal ?? { status: 400, detail: "no" }) });
  socket.end(
    `HTTP/1.1 ${refusal?.status ?? 400} No\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

beforeEach(async () => {
  state = { state: "RUNNING" };
  hasDomain = false;
  refusal = null;
  gateway = await playGateway(answer, upgrade);
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** Waits until the command serves, and returns the local port that it asked a link for. */
async function servedPort(): Promise<number> {
  const asked = () => {
    const bodies = gateway.requests.map(({ body }) => body as { readonly localPort?: number });
    return bodies.map((body) => body?.localPort ?? 0).find((port) => port !== 0) ?? 0;
  };
  await expect.poll(asked).toBeGreaterThan(0);
  return asked();
}

/** Asks as a browser does for a page at t12.localhost, which Node itself does not resolve. */
async function fetched(port: number, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { host: `t12.localhost:${port}` };
  get({ host: "127.0.0.1", port, path, headers, agent: false }, resolve).on("error", reject);
  return text(await promise);
}

test("with a domain of tasks, the link is printed", async () => {
  hasDomain = true;
  const { code, out, err } = await gateway.yard("task", "open", "t12", "--port", "8080");
  expect({ code, out }).toEqual({
    code: 0,
    out: "http://t12.tasks.example/.trainyard/open#code=8080\n",
  });
  expect(err).toMatch(/^the link works once, until \d\d:\d\d:\d\d\n$/);
});

test.each([[[]], [["--local"]]])(
  "the page is served at t12.localhost until Ctrl-C, each connection through the API (%j)",
  async (options) => {
    hasDomain = options.length > 0;
    const running = gateway.yard("task", "open", "t12", ...options);
    const port = await servedPort();
    const host = `t12.localhost:${port}`;
    const answers = await Promise.all(["/a", "/b"].map((path) => fetched(port, path)));
    expect(answers).toEqual([`${host} /a`, `${host} /b`]);
    refusal = { status: 503, detail: "the gateway is starting" };
    await fetched(port, "/c").catch(() => "");
    refusal = null;
    expect(await fetched(port, "/d")).toBe(`${host} /d`);
    process.emit("SIGINT");
    const { code, out, err } = await running;
    expect({ code, out }).toEqual({ code: 0, out: `http://${host}/.trainyard/open#code=0\n` });
    expect(err).toMatch(/^the link works once, until .*; Ctrl-C ends the page's connections\n/);
    expect(err).toContain("The gateway is starting.");
  },
);

test("a refusal that stays ends the command with its sentence", async () => {
  const running = gateway.yard("task", "open", "t12");
  const port = await servedPort();
  refusal = { status: 403, detail: "the token was revoked" };
  await fetched(port, "/").catch(() => "");
  expect(await running).toMatchObject({
    code: 1,
    err: expect.stringMatching(/The token was revoked\.\n$/),
  });
});

test.each([
  [["t13"], 2, "There is no task t13.\n"],
  [["t12", "--port", "22"], 2, "22 is none of the HTTP ports.\n"],
  [["t12", "--port", "x"], 2, '--port takes a whole number, at least 1, not "x".\n'],
])("task open %j is refused", async (args, code, err) => {
  expect(await gateway.yard("task", "open", ...args)).toMatchObject({ code, err });
});

test("a task that has ended has no page", async () => {
  state = { state: "ERROR", reason: "exit code 3" };
  const { code, err } = await gateway.yard("task", "open", "t12");
  expect({ code, err }).toEqual({ code: 1, err: "Task t12 has ended ERROR: exit code 3.\n" });
});
