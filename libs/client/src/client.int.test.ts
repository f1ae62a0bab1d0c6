import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { QuickClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { Client, queryOf } from "./client.ts";
import { Unreachable } from "./index.ts";

async function serve(
  listener: RequestListener,
  clock: Clock = systemClock,
): Promise<AsyncDisposable & { client: Client; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  return {
    url,
    client: new Client({ url, token: "secret", clock }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const busy = JSON.stringify({ status: 503, code: "unavailable", detail: "no answer yet" });

test("a call becomes the method, path, query, headers and body that the descriptors name", async () => {
  const seen: string[] = [];
  await using server = await serve((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end(JSON.stringify({ items: [], position: "7" }));
  });
  const page = await server.client.call("listTrials", { experiment: "12", pageSize: 5 });
  expect(page.position).toBe("7");
  expect(seen).toEqual(["GET /api/v1/experiments/12/trials?pageSize=5 Bearer secret"]);
});

test("a list in a query is sent as one parameter per value", () => {
  expect(queryOf({ labels: ["a", "b,c"], pageSize: 5 })).toBe("?labels=a&labels=b%2Cc&pageSize=5");
  expect(queryOf({})).toBe("");
});

test("a repeatable call waits out a 503; a call that may not be repeated fails at once", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    if (calls % 2 === 1) {
      response.writeHead(503, { "content-type": "application/problem+json" }).end(busy);
    } else response.end("{}");
  });
  await server.client.call("getVersion", {});
  await server.client.call("pauseExperiment", { experiment: "1" }, { idempotencyKey: "k" });
  expect(calls).toBe(4);
  await expect(server.client.call("pauseExperiment", { experiment: "1" })).rejects.toThrow(
    ApiError,
  );
  expect(calls).toBe(5);
});

test("any call beyond the caller's rate is repeated after the time that the answer names", async () => {
  const limited = JSON.stringify({ status: 429, code: "rate_limited", detail: "later" });
  const timesMs: number[] = [];
  const clock = new QuickClock();
  await using server = await serve(({ url }, response) => {
    timesMs.push(clock.monotonicMs());
    const done = url?.endsWith("/watch") === true ? "event: end\ndata: {}\n\n" : "{}";
    if (timesMs.length > 1) return void response.end(done);
    const type = { "content-type": "application/problem+json" };
    response.writeHead(429, { ...type, "retry-after": "1" }).end(limited);
  }, clock);
  const { client } = server;
  const pause = { experiment: "1" };
  for (const begin of [
    () => client.call("pauseExperiment", pause, { idempotencyKey: "k" }),
    () => client.call("pauseExperiment", pause),
    () => client.stream("watch", {}).next(),
  ]) {
    timesMs.length = 0;
    await begin();
    const [first = 0, second = 0] = timesMs;
    expect(second - first).toBe(1_000);
  }
});

test("a call that is made once throws the answer of 429, with the time to wait", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    const limited = JSON.stringify({ status: 429, code: "too_many_attempts", detail: "later" });
    const type = { "content-type": "application/problem+json" };
    response.writeHead(429, { ...type, "retry-after": "2" }).end(limited);
  });
  await expect(server.client.call("createSession", {}, { once: true })).rejects.toMatchObject({
    retryAfterMs: 2_000,
  });
  expect(calls).toBe(1);
});

test("calls are in the trace that the client is given, if that is valid", async () => {
  const seen: unknown[] = [];
  await using server = await serve(({ headers }, response) => {
    seen.push(headers["traceparent"]);
    response.end("{}");
  });
  const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const traceparent of [valid, "mine", undefined]) {
    await new Client({ url: server.url, traceparent }).call("getVersion", {});
  }
  expect(seen).toEqual([valid, undefined, undefined]);
});

test("a call whose first attempt is still in progress is repeated until it has its answer", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    if (calls > 2) return void response.end("{}");
    const busy409 = JSON.stringify({ status: 409, code: "in_progress", detail: "wait" });
    const type = { "content-type": "application/problem+json" };
    response.writeHead(409, { ...type, "retry-after": "0" }).end(busy409);
  });
  await server.client.call("pauseExperiment", { experiment: "1" }, { idempotencyKey: "k" });
  expect(calls).toBe(3);
});

test("a call that outlasts an outage is repeated after the 502 of a proxy whose server was killed", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    if (calls > 1) return void response.end("{}");
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
  });
  const outlast = { idempotencyKey: "k", outlast: true };
  await server.client.call("pauseExperiment", { experiment: "1" }, outlast);
  expect(calls).toBe(2);
});

const createOnce = { idempotencyKey: "k" };
const aMinuteMs = 60_000;

test("a download waits out a 503, like any call that only reads", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    if (calls > 1) return void response.end("bytes");
    response.writeHead(503, { "content-type": "application/problem+json" }).end(busy);
  }, new QuickClock(10));
  const body = await server.client.download("downloadCheckpoint", { checkpoint: "c" });
  expect(await new Response(body).text()).toBe("bytes");
  expect(calls).toBe(2);
});

test("a call with an idempotency key outlasts a service that is unavailable for a minute; a call that only reads fails sooner", async () => {
  const clock = new QuickClock(10);
  await using server = await serve((_request, response) => {
    if (clock.monotonicMs() >= aMinuteMs) response.end("{}");
    else response.writeHead(503, { "content-type": "application/problem+json" }).end(busy);
  }, clock);
  await expect(server.client.call("getVersion", {})).rejects.toThrow(ApiError);
  expect(clock.monotonicMs()).toBeLessThan(20_000);
  await server.client.call("pauseExperiment", { experiment: "1" }, createOnce);
  expect(clock.monotonicMs()).toBeLessThan(aMinuteMs + 5_000);
});

test("a call with an idempotency key fails in the end when the service stays unavailable", async () => {
  const clock = new QuickClock(10);
  await using server = await serve((_request, response) => {
    response.writeHead(503, { "content-type": "application/problem+json" }).end(busy);
  }, clock);
  const paused = server.client.call("pauseExperiment", { experiment: "1" }, createOnce);
  await expect(paused).rejects.toThrow(ApiError);
  expect(clock.monotonicMs()).toBeLessThan(2 * aMinuteMs);
});

test("a call that a person waits for ends within 15 s, also with a key and answers that take four seconds each", async () => {
  const clock = new QuickClock();
  const createSoon = { ...createOnce, soon: true };
  await using server = await serve((_request, response) => {
    clock.timer(4_000, () =>
      response.writeHead(503, { "content-type": "application/problem+json" }).end(busy),
    );
  }, clock);
  await expect(
    server.client.call("pauseExperiment", { experiment: "1" }, createSoon),
  ).rejects.toThrow("no answer yet");
  expect(clock.monotonicMs()).toBeGreaterThan(8_000);
  expect(clock.monotonicMs()).toBeLessThanOrEqual(15_000);
});

test("a call with outlast waits for a minute until the platform answers; a call without it fails at once", async () => {
  const clock = new QuickClock(10);
  await using server = await serve((_request, response) => {
    if (clock.monotonicMs() < aMinuteMs) response.destroy();
    else response.end("{}");
  }, clock);
  await expect(server.client.call("getVersion", {})).rejects.toThrow(Unreachable);
  expect(clock.monotonicMs()).toBe(0);
  await server.client.call("getVersion", {}, { outlast: true });
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(aMinuteMs);
});

test("a change without an idempotency key is not repeated", async () => {
  let calls = 0;
  await using server = await serve((_request, response) => {
    calls += 1;
    response.destroy();
  }, new QuickClock(10));
  const paused = server.client.call("pauseExperiment", { experiment: "1" }, { outlast: true });
  await expect(paused).rejects.toThrow(Unreachable);
  expect(calls).toBe(1);
});

test("a stream outlasts a platform that does not answer for a minute, once it has begun or with outlast", async () => {
  const clock = new QuickClock(10);
  let begun = 0;
  await using server = await serve((_request, response) => {
    if (clock.monotonicMs() < begun * aMinuteMs) return void response.destroy();
    begun += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`id: ${begun}\ndata: {"sequence":"${begun}"}\n\n`);
    if (begun === 2) response.end("event: end\ndata: {}\n\n");
    else setImmediate(() => response.destroy());
  }, clock);
  begun = 1;
  await expect(server.client.stream("watchEvents", {}).next()).rejects.toThrow(Unreachable);
  begun = 0;
  const sequences: string[] = [];
  for await (const { message } of server.client.stream("watchEvents", {}, { outlast: true })) {
    sequences.push(message.sequence);
  }
  expect(sequences).toEqual(["1", "2"]);
  expect(clock.monotonicMs()).toBeGreaterThanOrEqual(aMinuteMs);
});

test("a stream that breaks off continues after its last message, also when the platform is unavailable for a while", async () => {
  const seen: (string | undefined)[] = [];
  await using server = await serve((request, response) => {
    seen.push(request.headers["last-event-id"] as string | undefined);
    if (seen.length === 2) {
      response.writeHead(503, { "content-type": "application/problem+json" }).end(busy);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const next = seen.length === 1 ? 1 : 2;
    response.write(`id: ${next}\ndata: {"sequence":"${next}"}\n\n`);
    if (next === 2) response.end("event: end\ndata: {}\n\n");
    else setImmediate(() => response.destroy());
  });
  const sequences: string[] = [];
  for await (const { message } of server.client.stream("watchEvents", {})) {
    sequences.push(message.sequence);
  }
  expect(sequences).toEqual(["1", "2"]);
  expect(seen).toEqual([undefined, "1", "1"]);
});

test("a problem keeps its code and its paths; an absent server is reported as unreachable", async () => {
  const problem = {
    status: 422,
    code: "invalid_config",
    detail: "the configuration is not valid",
    errors: [{ path: "searcher.metric", detail: "is missing" }],
  };
  let client: Client;
  {
    await using server = await serve((_request, response) => {
      response.writeHead(422, { "content-type": "application/problem+json" });
      response.end(JSON.stringify(problem));
    });
    client = server.client;
    const failure = await client.call("getVersion", {}).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect((failure as ApiError).problem).toMatchObject(problem);
  }
  await expect(client.call("getVersion", {})).rejects.toThrow(Unreachable);
});

test("a reader that stops early closes the connection", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await serve((_request, response) => {
    response.on("close", closed.resolve);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 1\ndata: {"sequence":"1"}\n\n');
  });
  for await (const { message } of server.client.stream("watchEvents", {})) {
    expect(message.sequence).toBe("1");
    break;
  }
  await closed.promise;
});
