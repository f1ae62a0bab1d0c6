import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { httpLimits } from "../http/limits.ts";
import { startTaskPages, type TaskPageStage } from "../testing/task-page-stage.ts";

let stage: TaskPageStage;
/** The requests that reached the server of t12, by method and address. */
let reached: IncomingMessage[];

beforeAll(async () => {
  stage = await startTaskPages();
  const server = await stage.serve("t12", 8080, (asked, response) => {
    reached.push(asked);
    if (asked.url === "/echo") asked.pipe(response);
    else if (asked.url === "/events") response.write("data: first\n\n");
    else response.setHeader("set-cookie", ["a=1", "b=2; Domain=localhost"]).end("page of t12");
  });
  server.on("upgrade", (asked, socket: Socket, head: Buffer) => {
    reached.push(asked);
    socket.on("error", () => {});
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    socket.write(head);
    socket.pipe(socket);
  });
  await stage.serve("t13", 8080, (_asked, response) => response.end("page of t13"));
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  reached = [];
  stage.platform.length = 0;
});

const host = (task: string): string => `${task}.localhost:${stage.port}`;
const origin = (task: string): string => `http://${host(task)}`;

type Sent = { method?: string; path?: string; headers?: Record<string, string>; body?: string };

async function send(task: string, { method, path, headers = {}, body = "" }: Sent = {}) {
  const asked = request({
    ...{ port: stage.port, method, path, agent: false },
    headers: { host: host(task), ...headers },
  });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Sends bytes as they are, and returns everything that comes back until the connection ends or is silent. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(stage.port, "127.0.0.1");
  socket.setTimeout(700, () => socket.destroy());
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {});
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

describe("a person with a session", () => {
  test("gets the task's page, whose cookies stay on its host and which no page may frame", async () => {
    const cookie = await stage.cookie("t12");
    const { status, headers, body } = await send("t12", { headers: { cookie } });
    expect([status, body]).toEqual([200, "page of t12"]);
    expect(headers["set-cookie"]).toEqual(["a=1"]);
    expect(headers["content-security-policy"]).toBe("frame-ancestors 'self'");
    expect(reached[0]?.headers).toMatchObject({
      host: host("t12"),
      "x-trainyard-task-secret": "secret of t12",
    });
    expect(reached[0]?.headers.cookie).toBeUndefined();
    expect(stage.platform).toEqual([]);
  });

  test("sends bodies of known and of unknown length, also with a read", async () => {
    const cookie = await stage.cookie("t12");
    const write = { method: "POST", path: "/echo", headers: { cookie, origin: origin("t12") } };
    const known = { ...write, headers: { ...write.headers, "content-length": "5" }, body: "hello" };
    expect((await send("t12", known)).body).toBe("hello");
    expect((await send("t12", { ...write, body: "hello".repeat(50_000) })).body).toHaveLength(
      250_000,
    );
    const read = `GET /echo HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await raw(
      `${read}2b\r\nGET /api/v1/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n0\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1 + (answer.match(/GET \/api/g)?.length ?? 0));
    expect(reached).toHaveLength(3);
    expect(stage.platform).toEqual([]);
  });

  test("reaches the own page of a task beside its ports", async () => {
    await stage.serve("t9", 0, (_request, response) => void response.end("notebook"));
    await stage.serve("t9", 80, (_request, response) => void response.end("port 80"));
    const page = await stage.cookie("t9");
    expect((await send("t9", { headers: { cookie: page } })).body).toBe("notebook");
    const port = await stage.cookie("t9", 80);
    expect((await send("t9-80", { headers: { cookie: port } })).body).toBe("port 80");
  });

  test("opens a WebSocket of the task's own page", async () => {
    const cookie = await stage.cookie("t12");
    const answer = await raw(
      `GET /ws HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${origin("t12")}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 101 [\s\S]*\r\n\r\nhello$/);
  });

  test.each([
    ["the Web UI's session", () => void stage.sessions.closed.add("s1")],
    ["the token", () => void stage.tokens.delete("a1")],
  ])("has open requests cut within two seconds after the end of %s", async (_what, end) => {
    const token = stage.tokens.get("a1");
    const cookie = await stage.cookie("t12", 0, "s1");
    const streams = [
      `GET /events HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\n\r\n`,
      `GET /ws HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${origin("t12")}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ].map((head) => {
      const socket = connect(stage.port, "127.0.0.1");
      socket.write(head);
      socket.on("error", () => {});
      return socket;
    });
    await Promise.all(streams.map((one) => once(one, "data")));
    const closed = Promise.all(streams.map((one) => once(one.resume(), "close")));
    const endedAt = performance.now();
    end();
    await closed;
    expect(performance.now() - endedAt).toBeLessThan(2_500);
    expect((await send("t12", { headers: { cookie } })).status).toBe(401);
    stage.sessions.closed.clear();
    if (token !== undefined) stage.tokens.set("a1", token);
  });

  test("keeps open requests while the database is away, and new ones are asked to wait", async () => {
    const cookie = await stage.cookie("t12");
    const socket = connect(stage.port, "127.0.0.1");
    socket.write(
      `GET /ws HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${origin("t12")}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(socket, "data");
    stage.sessions.isAway = true;
    await new Promise((resolve) => setTimeout(resolve, 2_200));
    const { status, headers } = await send("t12", { headers: { cookie } });
    expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    socket.write("still here");
    expect(String((await once(socket, "data"))[0])).toBe("still here");
    stage.sessions.isAway = false;
    socket.destroy();
  });
});

describe("a code", () => {
  const exchange = (
    task: string,
    code: string,
    from = task,
    headers: Record<string, string> = {},
  ) =>
    send(task, {
      method: "POST",
      path: "/.trainyard/session",
      headers: { origin: origin(from), "content-length": String(code.length), ...headers },
      body: code,
    });

  test("opens one session with its host, by a page of ours that keeps it out of the history", async () => {
    const { code } = await stage.sessions.newCode(
      { task: "t12", port: 0 },
      { token: "a1", session: null },
    );
    const page = await send("t12", { path: "/.trainyard/open" });
    expect(page.body).toContain("history.replaceState");
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect((await exchange("t13", code)).status).toBe(401);
    expect((await exchange("t12", code, "t13")).status).toBe(403);
    const { status, headers } = await exchange("t12", code);
    expect(status).toBe(204);
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(/^trainyard_task=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await exchange("t12", code)).body).toContain("was used before");
  });

  test("that is wrong counts against the client that a trusted proxy names, and delays no other", async () => {
    const guess = async (client: string) =>
      (await exchange("t12", "A".repeat(43), "t12", { "x-forwarded-for": client })).status;
    const { wrongCodesMax } = httpLimits;
    const guesses: unknown[] = [];
    // Addresses of one /64 are one client.
    for (let n = 0; n <= wrongCodesMax; n += 1) guesses.push(await guess(`2001:db8::${n}`));
    expect(guesses).toEqual([...Array<number>(wrongCodesMax).fill(401), 429]);
    expect(await guess("2001:db8:0:1::1")).toBe(401);
    expect(await guess("203.0.113.1, 2001:db8::1")).toBe(429);
  });

  test("sets a cookie with the prefix that no other host can set, where the browser uses TLS", async () => {
    const { code } = await stage.sessions.newCode(
      { task: "t12", port: 0 },
      { token: "a1", session: null },
    );
    const { headers } = await send("t12", {
      method: "POST",
      path: "/.trainyard/session",
      headers: {
        ...{ origin: `https://${host("t12")}`, "x-forwarded-proto": "https" },
        "content-length": String(code.length),
      },
      body: code,
    });
    const [set = ""] = headers["set-cookie"] ?? [];
    expect(set).toMatch(/^__Host-trainyard_task=.*; Secure$/);
    const [secret = ""] = set.split("; ");
    const tls = { "x-forwarded-proto": "https" };
    expect((await send("t12", { headers: { ...tls, cookie: secret } })).status).toBe(200);
    const planted = secret.replace("__Host-", "");
    expect((await send("t12", { headers: { ...tls, cookie: planted } })).status).toBe(401);
  });
});

describe("refused", () => {
  test("without a session, with a sentence for a person and a problem for a program", async () => {
    const { status, body } = await send("t12");
    expect([status, JSON.parse(body)]).toMatchObject([401, { code: "no_session" }]);
    const page = await send("t12", {
      headers: {
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
        "sec-fetch-site": "none",
      },
    });
    expect(page.body).toContain("yard task open t12");
    expect(reached).toEqual([]);
  });

  test("with the session of another host of the task, or of another task", async () => {
    for (const cookie of [await stage.cookie("t13"), await stage.cookie("t12", 8888)]) {
      expect((await send("t12", { headers: { cookie } })).status).toBe(401);
    }
    expect(reached).toEqual([]);
  });

  test.each([
    ["an unknown name", "Host: t0.localhost"],
    ["a name with a dot at its end", "Host: t12.localhost."],
    ["two hosts", "Host: t12.localhost\r\nHost: 127.0.0.1"],
    ["two hosts, the platform's first", "Host: 127.0.0.1\r\nHost: t12.localhost"],
  ])("%s reaches neither a task nor the platform", async (_what, header) => {
    const cookie = await stage.cookie("t12");
    const answer = await raw(
      `GET /api/v1/tokens HTTP/1.1\r\n${header}\r\nCookie: ${cookie}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 (421|400) /);
    expect([reached.length, stage.platform.length]).toEqual([0, 0]);
  });

  test.each([
    [
      "X-Forwarded-Host",
      (cookie: string) =>
        `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Host: t12.localhost\r\nCookie: ${cookie}\r\n\r\n`,
      "GET /",
    ],
    [
      "a host in the target",
      (cookie: string) =>
        `GET http://t12.localhost/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`,
      "GET http://t12.localhost/",
    ],
  ])("%s makes no task of the platform's host", async (_what, bytes, address) => {
    await raw(bytes(await stage.cookie("t12")));
    expect(reached).toEqual([]);
    expect(stage.platform).toEqual([address]);
  });

  test.each(["http://127.0.0.1/api/v1/tokens", "*", "//127.0.0.1/"])(
    "a target %s of a task's host never reaches the platform",
    async (target) => {
      const cookie = await stage.cookie("t12");
      const method = target === "*" ? "OPTIONS" : "GET";
      await raw(
        `${method} ${target} HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${origin("t12")}\r\n\r\n`,
      );
      expect(stage.platform).toEqual([]);
    },
  );

  test("both a length and an unknown length, and a length with a sign", async () => {
    const cookie = await stage.cookie("t12");
    const head = `POST /echo HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${origin("t12")}\r\n`;
    for (const framing of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      "Content-Length: +5\r\n\r\nhello",
      "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    ]) {
      const answer = await raw(
        `${head}${framing}GET /api/v1/tokens HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
    }
    expect([reached.length, stage.platform.length]).toEqual([0, 0]);
  });

  test("an upgrade by another task's page, and one of a path of ours", async () => {
    const cookie = await stage.cookie("t12");
    const upgrade = (path: string, from: string) =>
      raw(
        `GET ${path} HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: ${from}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
    expect(await upgrade("/ws", origin("t13"))).toMatch(/^HTTP\/1.1 403 /);
    expect(await upgrade("/.trainyard/session", origin("t12"))).toMatch(/^HTTP\/1.1 400 /);
    expect(reached).toEqual([]);
  });
});
