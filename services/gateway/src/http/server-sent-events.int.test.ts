import { once } from "node:events";
import { get, type IncomingMessage, type ServerResponse } from "node:http";
import { codecOf } from "@trainyard/contracts";
import { EventSchema } from "@trainyard/contracts/api";
import { systemClock } from "@trainyard/kernel/system-clock";
import { type FastifyInstance, fastify } from "fastify";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { restOf } from "../testing/streams.ts";
import type { StreamItem } from "./request-context.ts";
import { sendStream } from "./server-sent-events.ts";

const codec = codecOf<object>(EventSchema);

let server: FastifyInstance;
let address = "";
let source: (signal: AbortSignal) => AsyncIterable<StreamItem<object>>;
/** The last response, and the number of sources that were closed. */
let raw: ServerResponse;
let left = 0;
let slowMs = 30_000;
const warnings: Error[] = [];
const onWarning = (warning: Error): number => warnings.push(warning);

beforeEach(async () => {
  left = 0;
  slowMs = 30_000;
  warnings.length = 0;
  process.on("warning", onWarning);
  server = fastify({ forceCloseConnections: true });
  server.get("/", async (_request, reply) => {
    raw = reply.raw;
    const gone = new AbortController();
    raw.once("close", () => gone.abort());
    const problemText = (error: unknown): string => String(error);
    const options = { clock: systemClock, signal: gone.signal, problemText, slowMs };
    await sendStream(reply, codec, counted(source(gone.signal)), options);
  });
  address = await server.listen({ host: "127.0.0.1", port: 0 });
});

afterEach(async () => {
  process.off("warning", onWarning);
  await server.close();
});

async function* counted(
  items: AsyncIterable<StreamItem<object>>,
): AsyncGenerator<StreamItem<object>> {
  try {
    yield* items;
  } finally {
    left += 1;
  }
}

const item = (n: number, text = "") => ({ id: String(n), message: { id: `${n}`, subject: text } });

function open(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, { agent: false }, resolve).on("error", reject);
  });
}

test("a source that fails in the middle ends its stream with a problem, and is closed", async () => {
  source = async function* () {
    yield item(1);
    throw new Error("the source is gone");
  };
  const text = (await restOf(await open())).toString();
  expect(text).toContain("id: 1\n");
  expect(text).toContain("event: problem\ndata: Error: the source is gone\n\n");
  expect(left).toBe(1);
});

test("a client that disconnects in the middle closes its source, even if that sends nothing", async () => {
  source = async function* (signal) {
    yield item(1);
    await once(signal, "abort");
  };
  const stream = await open();
  await once(stream, "data");
  stream.destroy();
  await vi.waitFor(() => expect(left).toBe(1), { timeout: 90_000 });
});

test("a client that disconnects while it has unread messages closes its source", async () => {
  source = async function* () {
    for (let n = 1; ; n += 1) yield item(n, "x".repeat(100_000));
  };
  const stream = await open();
  await vi.waitFor(() => expect(raw.writableNeedDrain).toBe(true), { timeout: 90_000 });
  stream.destroy();
  await vi.waitFor(() => expect(left).toBe(1), { timeout: 90_000 });
});

test("a client that reads slowly gets everything, and the server buffers little for it", async () => {
  let produced = 0;
  source = async function* () {
    while (produced < 400) {
      produced += 1;
      yield item(produced, "x".repeat(100_000));
    }
  };
  const stream = await open();
  const listeners = raw.listenerCount("close") + raw.listenerCount("drain");
  let text = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text += chunk.length;
    expect(raw.writableLength).toBeLessThan(1_000_000);
    expect(raw.listenerCount("close") + raw.listenerCount("drain")).toBeLessThanOrEqual(
      listeners + 2,
    );
  }
  expect(text).toBeGreaterThan(400 * 100_000);
  expect(left).toBe(1);
  expect(warnings).toEqual([]);
});

test("a client that leaves messages unread is disconnected, after the messages that were sent and the reason", async () => {
  slowMs = 300;
  let produced = 0;
  source = async function* () {
    for (;;) yield item((produced += 1), "x".repeat(100_000));
  };
  const stream = await open();
  await vi.waitFor(() => expect(left).toBe(1), { timeout: 90_000 });
  const text = (await restOf(stream)).toString();
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(
    Array.from({ length: produced }, (_, index) => index + 1),
  );
  expect(text.slice(text.lastIndexOf("event:"))).toContain(`${produced} was sent`);
  expect(text.slice(text.lastIndexOf("event:"))).toContain("left messages unread");
});

test("the connection of a client that never reads is closed", async () => {
  slowMs = 100;
  source = async function* () {
    for (let n = 1; ; n += 1) yield item(n, "x".repeat(100_000));
  };
  await open();
  await vi.waitFor(() => expect(raw.destroyed).toBe(true), { timeout: 90_000 });
});
