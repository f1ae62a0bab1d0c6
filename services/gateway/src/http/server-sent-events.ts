import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Codec } from "@trainyard/contracts";
import { untilDrained } from "@trainyard/runtime";
import type { FastifyReply } from "fastify";
import { gatewayLimits } from "../limits.ts";
import { Problem } from "./problem.ts";
import type { StreamItem } from "./request-context.ts";

export type StreamOptions = {
  readonly signal: AbortSignal;
  readonly problemText: (error: unknown) => string;
  /** A client that leaves unread for so long what was written is cut off. Default: the limit of that name. */
  readonly slowMs?: number;
};

/**
 * A stream of messages as server-sent events (WHATWG HTML §9.2): `id` and `data` each, a comment now and then. What
 * fails before the first message is an ordinary problem; later the stream ends with an event called `problem`. A client
 * that reads nothing for long is cut off: nothing is kept for it, and it continues after its last id.
 */
export async function sendStream<Message extends object>(
  reply: FastifyReply,
  codec: Codec<Message>,
  items: AsyncIterable<StreamItem<Message>>,
  { signal, problemText, slowMs = gatewayLimits.sseSlowMs }: StreamOptions,
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
    let lastId = "";
    while (next.done !== true && !signal.aborted) {
      if (next.value.id !== "") lastId = next.value.id;
      const { id, message, text = JSON.stringify(codec.toFullJson(message)) } = next.value;
      // An empty id would make the client forget the last one.
      raw.write(`${id === "" ? "" : `id: ${id}\n`}data: ${text}\n\n`);
      if (!(await untilDrained(raw, signal, slowMs))) throw tooSlow(lastId, slowMs);
      next = await iterator.next();
    }
    if (!signal.aborted) raw.write("event: end\ndata: {}\n\n");
  } catch (error) {
    raw.write(`event: problem\ndata: ${problemText(error)}\n\n`);
  } finally {
    clearInterval(keepAlive);
    await iterator.return?.(undefined);
    const isUnread = raw.writableNeedDrain;
    raw.end();
    // Unread bytes are kept for as long again, and then go with the connection.
    if (isUnread) void hangUp(raw, slowMs);
  }
}

async function hangUp(raw: ServerResponse, afterMs: number): Promise<void> {
  await setTimeout(afterMs, undefined, { ref: false });
  raw.destroy();
}

/** The client comes back after the last message that it has read. */
function tooSlow(id: string, slowMs: number): Problem {
  const detail = `the client left messages unread for ${slowMs} ms; continue after the last one that it has (${id} was sent)`;
  return new Problem(503, "reader_too_slow", detail);
}
