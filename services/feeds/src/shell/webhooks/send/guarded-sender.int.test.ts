import type dns from "node:dns";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { systemClock } from "@trainyard/kernel/system-clock";
import { afterEach, describe, expect, test } from "vitest";
import { certificate } from "../../../testing/kafka.ts";
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

describe("a name", () => {
  /** The name has the first address once, and the second one from then on. */
  const changing = (first: string, then: string, asked: string[]): typeof dns.lookup => {
    const lookup = (name: string, _options: unknown, done: (...found: unknown[]) => void): void => {
      const address = asked.length === 0 ? first : then;
      asked.push(name);
      done(null, [{ address, family: 4 }]);
    };
    return lookup as typeof dns.lookup;
  };
  const named = (networks: string, lookup: typeof dns.lookup) =>
    new GuardedSender({
      addresses: new Addresses(networks),
      ...{ proxy: null, clock: systemClock, timeoutMs: 2_000, lookup },
    });

  test("that has a refused address the second time leads no byte there", async () => {
    const refused = await counting("127.0.0.1");
    const allowed = await counting("127.0.0.2", refused.port);
    const asked: string[] = [];
    const guarded = named("127.0.0.2/32", changing("127.0.0.2", "127.0.0.1", asked));
    const url = `http://receiver.example:${refused.port}/`;
    expect(await guarded.send(post(url), signal)).toMatchObject({ status: 200 });
    expect(asked).toEqual(["receiver.example"]);
    expect(allowed).toMatchObject({ connections: 1 });
    expect(allowed.bytes).toBeGreaterThan(0);
    const { error } = await guarded.send(post(url), signal);
    expect(error).toMatch(/TRAINYARD_FEEDS_ALLOWED_NETWORKS/);
    expect(refused).toMatchObject({ connections: 0, bytes: 0 });
  });

  test("with a refused address does not say whether its port is open", async () => {
    const open = await counting("127.0.0.1");
    const guarded = named("10.1.0.0/16", changing("127.0.0.1", "127.0.0.1", []));
    const [one, other] = await Promise.all(
      [open.port, 1].map((port) => guarded.send(post(`https://receiver.example:${port}/`), signal)),
    );
    expect(one?.error).toMatch(/TRAINYARD_FEEDS_ALLOWED_NETWORKS/);
    expect(other?.error).toBe(one?.error);
    expect(open.connections).toBe(0);
  });
});

describe("behind an egress proxy", () => {
  async function proxied(url: string) {
    const inner = new URL(await receiver((_request, response) => response.end("of its network")));
    const asked: string[] = [];
    const server = createServer();
    server.on("connect", ({ url: target }, socket: Socket) => {
      asked.push(target ?? "");
      const onward = connect(Number(inner.port), "127.0.0.1");
      for (const one of [socket, onward]) one.on("error", () => {});
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
      stack.push(async () => void onward.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.push(async () => void server.close());
    const proxy = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const addresses = new Addresses("10.1.0.0/16");
    const guarded = new GuardedSender({ addresses, proxy, clock: systemClock, timeoutMs: 2_000 });
    return { asked, answer: await guarded.send(post(url), signal) };
  }

  test("the request goes through its tunnel, and the answer is not shown", async () => {
    const { asked, answer } = await proxied("http://10.1.2.3:8080/in");
    expect(asked).toEqual(["10.1.2.3:8080"]);
    expect(answer).toMatchObject({ status: 200, error: "", answer: "", isPrivate: true });
  });

  test.each([
    ["http://receiver.example/in", /must begin with https/],
    ["https://169.254.169.254/in", /TRAINYARD_FEEDS_ALLOWED_NETWORKS/],
    ["https://[::ffff:127.0.0.1]/in", /TRAINYARD_FEEDS_ALLOWED_NETWORKS/],
  ])("%s is refused before the proxy is asked", async (url, sentence) => {
    const { asked, answer } = await proxied(url);
    expect(asked).toEqual([]);
    expect(answer.error).toMatch(sentence);
  });
});

describe("over TLS", () => {
  async function answerOf(until: "2020-01-02" | "2049-01-02", isKnown: boolean) {
    using made = certificate(until);
    const cert = readFileSync(made.certFile, "utf8");
    const key = readFileSync(made.keyFile, "utf8");
    const server = createTlsServer({ cert, key }, (_request, response) => response.end("ok"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    const guarded = new GuardedSender({
      addresses: new Addresses("127.0.0.0/8"),
      ...{ proxy: null, clock: systemClock, timeoutMs: 5_000 },
      ...(isKnown ? { authorities: cert } : {}),
    });
    const { port } = server.address() as AddressInfo;
    return await guarded.send(post(`https://127.0.0.1:${port}/in`), signal);
  }

  test("a receiver whose certificate is known gets the request", async () => {
    expect(await answerOf("2049-01-02", true)).toMatchObject({ status: 200, error: "" });
  });

  test.each([
    ["2020-01-02", true, "the connection failed: CERT_HAS_EXPIRED"],
    ["2049-01-02", false, "the connection failed: DEPTH_ZERO_SELF_SIGNED_CERT"],
  ] as const)("a certificate until %s, known: %s, is refused", async (until, isKnown, error) => {
    expect(await answerOf(until, isKnown)).toMatchObject({ error, answer: "" });
  });
});

test.each([
  ["resets the connection at once", null],
  ["resets it in the body", "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nabc"],
  ["sends what is not HTTP", "nothing\r\n\r\n"],
  ["sends headers without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}`],
])("a receiver that %s is a result, and ends no process", async (_name, sent) => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      if (sent === null) socket.resetAndDestroy();
      else socket.write(sent, () => socket.resetAndDestroy());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.push(async () => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { status, error } = await local(2_000).send(post(url), signal);
  expect(status === 200 || error.startsWith("the connection failed: ")).toBe(true);
});

/** A receiver on one of this host's addresses that counts what reaches it. */
async function counting(host: string, port = 0) {
  const counts = { connections: 0, bytes: 0, port };
  const server = createTcpServer((socket) => {
    counts.connections += 1;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      counts.bytes += chunk.byteLength;
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  stack.push(async () => void server.close());
  counts.port = (server.address() as AddressInfo).port;
  return counts;
}

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
    ["::7f00:1", null],
    ["4000::1", null],
    ["2002:7f00:1::", null],
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
