import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { frontServer } from "./front.ts";
import { taskPageLimits } from "./limits.ts";
import { pagesOfOneMax, startTaskPages, type TaskPageStage } from "../testing/task-page-stage.ts";

let stage: TaskPageStage;
/** The requests that reached the server of t12, by method and address. */
let reached: string[];

beforeAll(async () => {
  stage = await startTaskPages();
  await stage.serve("t12", 8080, (asked, response) => {
    reached.push(`${asked.method} ${asked.url}`);
    const head = new URL(asked.url ?? "", "http://task").searchParams.get("head");
    if (asked.url === "/broken") asked.socket.destroy();
    else if (head !== null) asked.socket.end(`${head}\r\nContent-Length: 0\r\n\r\n`);
    else if (asked.url !== "/hang") asked.resume().once("end", () => response.end("page of t12"));
  });
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  reached = [];
});

const headOf = (line: string, cookie: string): string =>
  `${line} HTTP/1.1\r\nHost: t12.localhost:${stage.port}\r\nOrigin: http://t12.localhost:${stage.port}\r\nCookie: ${cookie}\r\n`;

function open(bytes: string) {
  const socket = connect(stage.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
}

test.each(["HTTP/1.1 099 Odd", "HTTP/1.1 000 Odd", "HTTP/1.1 200 a\u0001b", "HTTP/1.1 101 Other"])(
  "a server that answers with %j costs its own request only",
  async (head) => {
    const cookie = await stage.cookie("t12");
    const line = `GET /?head=${encodeURIComponent(head)}`;
    const answer = await text(open(`${headOf(line, cookie)}Connection: close\r\n\r\n`));
    expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n/);
    expect(reached).toHaveLength(1);
  },
);

test("a body whose length Connection names is no second request", async () => {
  const cookie = await stage.cookie("t12");
  const body = `GET /smuggled HTTP/1.1\r\nHost: t12.localhost\r\n\r\n`;
  const framing = `Connection: close, Content-Length\r\nContent-Length: ${body.length}\r\n\r\n`;
  await text(open(headOf("DELETE /", cookie) + framing + body));
  await sleep(100);
  expect(reached).toEqual(["DELETE /"]);
});

test("clients that reset an upgrade at a host without a task do not end the gateway", async () => {
  const bytes =
    "GET / HTTP/1.1\r\nHost: no.localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  for (let client = 0; client < 50; client += 1) {
    const socket = open(bytes);
    await once(socket, "connect");
    setImmediate(() => socket.resetAndDestroy());
    await once(socket, "close");
  }
  const [answer] = await once(open(bytes), "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 421 /);
});

test.each(["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"])(
  "a browser that leaves before its session was found reaches no task: %j",
  async (framing) => {
    const cookie = await stage.cookie("t12");
    const find = stage.sessions.find.bind(stage.sessions);
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stage.sessions.find = async (...which) => {
      asked.resolve();
      await answer.promise;
      return find(...which);
    };
    const socket = open(`${headOf("GET /hang", cookie)}${framing}\r\n`);
    await asked.promise;
    socket.destroy();
    await sleep(100);
    stage.sessions.find = find;
    answer.resolve();
    await sleep(100);
    expect(reached).toEqual([]);
  },
);

test("a connection without a request ends after a minute, although uploads may take hours", () => {
  const taskPages = { answer: async () => {}, upgrade: async () => {} };
  const server = frontServer(
    { taskPages, taskDomain: null },
    () => {},
    () => {},
  );
  expect([server.headersTimeout, server.requestTimeout]).toEqual([60_000, 0]);
});

test("a change is sent once, also if the server closes the connection without an answer", async () => {
  const cookie = await stage.cookie("t12");
  const ask = (line: string) => text(open(`${headOf(line, cookie)}Connection: close\r\n\r\n`));
  expect(await ask("GET /")).toMatch(/^HTTP\/1.1 200 /);
  expect(await ask("DELETE /broken")).toMatch(/^HTTP\/1.1 502 /);
  expect(reached).toEqual(["GET /", "DELETE /broken"]);
});

test("a server that does not answer an upgrade is given up after a minute", async () => {
  const server = await stage.serve("t14", 8080, () => {});
  const asked = once(server, "upgrade");
  const cookie = await stage.cookie("t14");
  const head = headOf("GET /ws", cookie).replaceAll("t12.", "t14.");
  const socket = open(`${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await asked;
  await stage.pagesClock.advance(taskPageLimits.upgradeMs);
  expect(await text(socket)).toMatch(/^HTTP\/1.1 504 /);
});

test("one caller's requests that never end are bounded, and their end makes room", async () => {
  const cookie = await stage.cookie("t12");
  const hang = `${headOf("GET /hang", cookie)}\r\n`;
  const hanging = Array.from({ length: pagesOfOneMax }, () => open(hang));
  await vi.waitFor(() => expect(reached).toHaveLength(pagesOfOneMax));
  const ask = () => text(open(`${headOf("GET /", cookie)}Connection: close\r\n\r\n`));
  expect(await ask()).toMatch(/^HTTP\/1.1 429 /);
  for (const one of hanging) one.destroy();
  await vi.waitFor(async () => expect(await ask()).toMatch(/^HTTP\/1.1 200 /));
});

test.each(["yard.example.com", "example.com"])(
  "the platform opened at %s is refused with one sentence if the domain of tasks is example.com",
  async (host) => {
    const platform = vi.fn<() => void>();
    const front = frontServer(
      { taskPages: stage.taskPages, taskDomain: "example.com" },
      platform,
      platform,
    );
    await once(front.listen(0, "127.0.0.1"), "listening");
    const answers = [
      "Sec-Fetch-Mode: navigate",
      "Accept: application/json",
      "Connection: Upgrade\r\nUpgrade: websocket",
    ].map((header) => {
      const socket = connect((front.address() as AddressInfo).port, "127.0.0.1");
      socket.write(`GET /api/v1/tokens HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n\r\n`);
      return text(socket);
    });
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(
        /^HTTP\/1.1 421 [\s\S]*need a host outside of the domain of tasks \(TRAINYARD_TASK_DOMAIN is example.com\)/,
      );
    }
    expect(platform).not.toHaveBeenCalled();
    front.close();
  },
);
