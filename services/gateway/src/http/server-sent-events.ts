import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Codec } from "@trainyard/contracts";
import type { FastifyReply } from "fastify";
import { gatewayLimits } from "../limits.ts";
import type { StreamItem } from "./request-context.ts";

export type StreamOptions = {
  readonly signal: AbortSignal;
  readonly problemText: (error: unknown) => string;
};

/**
 * A stream of messages as server-sent events (WHATWG HTML §9.2): `id` and `data` each, a comment now and then. What fails
 * before the first message is an ordinary problem; later the stream ends with an event called `problem`.
 */
export async function sendStream<Message extends object>(
  reply: FastifyReply,
  codec: Codec<Message>,
  items: AsyncIterable<StreamItem<Message>>,
  { signal, problemText }: StreamOptions,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  // Throws what fails at once; a stream that is quiet begins all the same.
  await Promise.race([first, setTimeout(gatewayLimits.sseFirstMs)]);
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  raw.write(": trainyard\n\n");
  // Not to a client that does not read: it would pile up.
  const keepAlive = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(": still here\n\n");
  }, gatewayLimits.sseKeepAliveMs);
  try {
    let next = await first;
    while (next.done !== true && !signal.aborted) {
      const { id, message, text = JSON.stringify(codec.toFullJson(message)) } = next.value;
      // An empty id would make the client forget the last one.
      raw.write(`${id === "" ? "" : `id: ${id}\n`}data: ${text}\n\n`);
      await drained(raw, signal);
      next = await iterator.next();
    }
    if (!signal.aborted) raw.write("event: end\ndata: {}\n\n");
  } catch (error) {
    raw.write(`event: problem\ndata: ${problemText(error)}\n\n`);
  } finally {
    clearInterval(keepAlive);
    await iterator.return?.(undefined);
    raw.end();
  }
}

/** Waits for a client that reads slower than is written; the signal aborts when it has gone. */
async function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  if (!raw.writableNeedDrain || signal.aborted) return;
  // Rejects when the signal aborts, or the connection breaks: both end the stream by the signal.
  await once(raw, "drain", { signal }).catch(() => {});
}
