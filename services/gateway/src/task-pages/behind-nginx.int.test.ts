/** The pages of tasks at hosts of a task domain, behind nginx as docs/operate/deploy.md configures it. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, onTestFinished, test, type TestContext } from "vitest";
import { documented, type Nginx, startNginx } from "../testing/nginx.ts";
import { startTaskPages, type TaskPageStage } from "../testing/task-page-stage.ts";

const mib = 1_048_576;

let stage: TaskPageStage;
let reached: string[];

beforeEach(async () => {
  reached = [];
  stage = await startTaskPages(documented.domain);
  const server = await stage.serve("t12", 8080, (asked, response) => {
    reached.push(`${asked.method} ${asked.url}`);
    if (asked.url === "/count") {
      let bytes = 0;
      asked.on("data", (chunk: Buffer) => (bytes += chunk.length));
      asked.on("end", () => response.end(String(bytes)));
      return;
    }
    response.writeHead(200, {
      "x-accel-redirect": "/api/v1/tokens",
      "x-accel-limit-rate": "1",
      "x-accel-buffering": "yes",
      "x-sendfile": "/etc/passwd",
      "set-cookie": [`a=1; Domain=${documented.domain}`, "b=2"],
    });
    response.end(`page of t12 at ${asked.headers.host}`);
  });
  server.on("upgrade", (_asked, socket: Socket, head: Buffer) => {
    socket.on("error", () => {});
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.write(head);
    socket.pipe(socket);
  });
  await stage.serve("t13", 8080, (_asked, response) => response.end("page of t13"));
});
afterEach(() => stage[Symbol.asyncDispose]());

const host = (label: string): string => `${label}.${documented.domain}`;

async function nginx(skip: TestContext["skip"]): Promise<Nginx> {
  const started = await startNginx(stage.port, (why) => skip(why));
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** Over TLS only the cookie counts that no other host can set. */
const cookieOf = async (task: string): Promise<string> => `__Host-${await stage.cookie(task)}`;

async function get(port: number, headers: Record<string, string>) {
  const asked = request({ host: "127.0.0.1", port, agent: false, headers }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Sends bytes as they are, and returns everything that comes back until the connection ends or is silent. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.setTimeout(400, () => socket.destroy());
  socket.write(bytes);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += String(chunk)));
  socket.on("error", () => {});
  await once(socket, "close");
  return answer;
}

test("behind nginx the host decides, and nginx obeys no header of a task", async ({ skip }) => {
  const { port } = await nginx(skip);
  const cookie = await cookieOf("t12");
  const page = await get(port, { host: host("t12"), cookie });
  expect([page.status, page.body]).toEqual([200, `page of t12 at ${host("t12")}`]);
  expect(page.headers["set-cookie"]).toEqual(["b=2"]);
  const obeyed = Object.keys(page.headers).filter((name) => /^x-(accel|sendfile)/.test(name));
  expect(obeyed).toEqual([]);
  expect((await get(port, { host: host("t13"), cookie })).status).toBe(401);
  const planted = cookie.replace("__Host-", "");
  expect((await get(port, { host: host("t12"), cookie: planted })).status).toBe(401);
  for (const name of [documented.domain, host("x"), host("a.t12")]) {
    const { status, body } = await get(port, { host: name, cookie });
    expect([name, status]).toEqual([name, 421]);
    expect(body).toContain(`TRAINYARD_TASK_DOMAIN is ${documented.domain}`);
  }
  expect(stage.platform).toEqual([]);
  const claimed = { "x-forwarded-host": host("t12"), forwarded: `host=${host("t12")}` };
  const platform = await get(port, { host: documented.platform, cookie, ...claimed });
  expect(platform.body).toBe("platform");
  expect(reached).toEqual(["GET /"]);
});

test("behind nginx no bytes for a task's host reach the platform", async ({ skip }) => {
  const { port } = await nginx(skip);
  const cookie = await cookieOf("t12");
  const rest = `Cookie: ${cookie}\r\nOrigin: https://${host("t12")}\r\n`;
  const inner = `GET /api/v1/tokens HTTP/1.1\r\nHost: ${documented.platform}\r\n\r\n`;
  const toTask = `Host: ${host("t12")}\r\n${rest}`;
  await Promise.all(
    [
      `GET /api/v1/tokens HTTP/1.1\r\n${toTask}Host: ${documented.platform}\r\n\r\n`,
      `GET /api/v1/tokens HTTP/1.1\r\nHost: ${host("t12")}.\r\n${rest}\r\n`,
      `GET /%2e%2e/%2e%2e/api/v1/tokens HTTP/1.1\r\n${toTask}\r\n`,
      `GET /..%2f..%2fapi/v1/tokens HTTP/1.1\r\n${toTask}\r\n`,
      `GET http://${host("t12")}/api/v1/tokens HTTP/1.1\r\n${toTask}\r\n`,
      `POST /count HTTP/1.1\r\n${toTask}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST /count HTTP/1.1\r\n${toTask}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `POST /count HTTP/1.1\r\n${toTask}Transfer-Encoding : chunked\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      `GET / HTTP/1.1\r\n${toTask}Content-Length: ${inner.length}\r\n\r\n${inner}`,
      `GET / HTTP/1.1\r\n${toTask}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n`,
      `GET /ws HTTP/1.1\r\n${toTask}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n${inner}`,
    ].map((bytes) => raw(port, bytes)),
  );
  expect(stage.platform).toEqual([]);
});

test("behind nginx a WebSocket of the task's own page is open, and another page's is refused", async ({
  skip,
}) => {
  const { port } = await nginx(skip);
  const cookie = await cookieOf("t12");
  const upgrade = (from: string) =>
    raw(
      port,
      `GET /ws HTTP/1.1\r\nHost: ${host("t12")}\r\nCookie: ${cookie}\r\nOrigin: https://${from}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello`,
    );
  const [own, foreign] = await Promise.all([upgrade(host("t12")), upgrade(host("t13"))]);
  expect(own).toMatch(/^HTTP\/1.1 101 [\s\S]*\r\n\r\nhello$/);
  expect(foreign).toMatch(/^HTTP\/1.1 403 /);
});

test("behind nginx an upload of 300 MB has no limit", async ({ skip }) => {
  const { port } = await nginx(skip);
  const headers = {
    host: host("t12"),
    cookie: await cookieOf("t12"),
    origin: `https://${host("t12")}`,
    "content-length": String(300 * mib),
  };
  const sent = request({ host: "127.0.0.1", port, method: "POST", path: "/count", headers });
  const answered = once(sent, "response");
  const chunk = Buffer.alloc(mib, 1);
  for (let at = 0; at < 300; at += 1) if (!sent.write(chunk)) await once(sent, "drain");
  sent.end();
  const [answer] = (await answered) as [IncomingMessage];
  expect([answer.statusCode, await text(answer)]).toEqual([200, String(300 * mib)]);
});
