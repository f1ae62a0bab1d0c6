import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterEach, describe, expect, test } from "vitest";
import { Addresses } from "./addresses.ts";
import { urlProblem } from "./check-url.ts";
import { GuardedSender } from "./guarded-sender.ts";

const stack: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of stack.splice(0)) await close();
});

async function receiver(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
}

const sender = (networks: string, timeoutMs = 5_000) =>
  new GuardedSender({
    addresses: new Addresses(networks),
    proxy: null,
    clock: systemClock,
    timeoutMs,
  });
const local = (timeoutMs?: number) => sender("127.0.0.0/8", timeoutMs);
const { signal } = new AbortController();
const post = (url: string) => ({ url, headers: { "x-own": "1" }, body: '{"a":"ä"}' });

describe("a receiver in an allowed network", () => {
  test("gets the request, and its answer is not shown", async () => {
    const seen: unknown[] = [];
    const url = await receiver((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method, headers } = request;
        seen.push([method, headers["x-own"], Buffer.concat(chunks).toString()]);
        response.writeHead(201).end("secret of the network");
      });
    });
    const answer = await local().send(post(url), signal);
    expect(answer).toMatchObject({ status: 201, error: "", answer: "", isPrivate: true });
    expect(seen).toEqual([["POST", "1", '{"a":"ä"}']]);
  });

  test.each([
    [500, {}],
    [410, {}],
    [302, { location: "http://169.254.169.254/latest/meta-data" }],
  ])("that answers %d is not followed and not repeated", async (status, headers) => {
    let requests = 0;
    const url = await receiver((_request, response) => {
      requests += 1;
      response.writeHead(status, headers).end();
    });
    expect(await local().send(post(url), signal)).toMatchObject({ status, error: "" });
    expect(requests).toBe(1);
  });

  test("that asks for a wait is heard, in seconds and as a date", async () => {
    const url = await receiver((_request, response) =>
      response.writeHead(503, { "retry-after": "120" }).end(),
    );
    expect(await local().send(post(url), signal)).toMatchObject({ retryAfterMs: 120_000 });
    const later = new Date(Date.now() + 60_000).toUTCString();
    const dated = await receiver((_request, response) =>
      response.writeHead(429, { "retry-after": later }).end(),
    );
    const { retryAfterMs = 0 } = await local().send(post(dated), signal);
    expect(Math.abs(retryAfterMs - 60_000)).toBeLessThan(5_000);
  });

  test("that never answers is left after the limit", async () => {
    const url = await receiver(() => {});
    const answer = await local(300).send(post(url), signal);
    expect(answer).toMatchObject({ error: "there was no answer within 0 s" });
    expect(answer.tookMs).toBeLessThan(3_000);
  });

  test("that sends a byte a second, or without end, holds nothing up", async () => {
    const slow = await receiver((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), 100);
      response.on("close", () => clearInterval(timer));
    });
    expect(await local(500).send(post(slow), signal)).toMatchObject({ status: 200 });
    let sent = 0;
    const endless = await receiver((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536))) sent += 65_536;
      };
      response.on("drain", more);
      more();
    });
    expect(await local().send(post(endless), signal)).toMatchObject({ status: 200 });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("that is not there is named in one sentence", async () => {
    const answer = await local().send(post("http://127.0.0.1:1/in"), signal);
    expect(answer.error).toMatch(/ECONNREFUSED/);
  });
});

test.each([
  "https://127.0.0.1:PORT/",
  "https://[::ffff:127.0.0.1]:PORT/",
  "https://2130706433:PORT/",
  "https://0x7f.1:PORT/",
  "https://localhost:PORT/",
  "http://127.0.0.1:PORT/",
  "http://localhost:PORT/",
])("no byte reaches %s, whose network is not allowed", async (url) => {
  let bytes = 0;
  const server = createTcpServer((socket) => {
    socket.on("data", (chunk) => {
      bytes += chunk.byteLength;
    });
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.push(async () => void server.close());
  const port = String((server.address() as AddressInfo).port);
  const asked = post(url.replace("PORT", port));
  // An operator who allows another network opens no other one.
  for (const networks of ["", "10.1.0.0/16"]) {
    const answer = await sender(networks).send(asked, signal);
    expect(answer).toMatchObject({ answer: "" });
    expect(answer.error).toMatch(/TRAINYARD_FEEDS_ALLOWED_NETWORKS/);
  }
  await new Promise((done) => setTimeout(done, 20));
  expect(bytes).toBe(0);
});

describe("the address", () => {
  const addresses = new Addresses("10.1.0.0/16, fd00:1::/32");
  test.each([
    ["8.8.8.8", "public"],
    ["2606:4700::1111", "public"],
    ["10.1.2.3", "allowed"],
    ["::ffff:10.1.2.3", "allowed"],
    ["fd00:1::7", "allowed"],
    ["10.2.0.1", null],
    ["127.0.0.1", null],
    ["::1", null],
    ["::ffff:127.0.0.1", null],
    ["64:ff9b::7f00:1", null],
    ["169.254.169.254", null],
    ["100.64.0.1", null],
    ["0.0.0.0", null],
    ["192.168.1.1", null],
    ["fe80::1", null],
    ["fd00:2::1", null],
    ["224.0.0.1", null],
    ["255.255.255.255", null],
    ["", null],
  ])("%s is %s", (address, kind) => {
    expect(addresses.kindOf(address)).toBe(kind);
  });
});

test.each([
  ["https://example.com/hook", null],
  ["ftp://example.com", "the URL must begin with https://"],
  ["example.com", "the URL is not valid: it begins with https:// and a host"],
  ["https://a:b@example.com", "the URL must have no user and password: send them as a header"],
])("the URL %s: %s", (url, problem) => {
  expect(urlProblem(new Addresses(""), url)).toBe(problem);
});

test("a network that is none is refused with its text", () => {
  expect(() => new Addresses("10.0.0.0/8, everything")).toThrow('"everything" is not a network');
});
