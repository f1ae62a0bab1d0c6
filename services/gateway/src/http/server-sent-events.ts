import type { Codec } from "@trainyard/contracts";
import { type Clock, pause } from "@trainyard/kernel";
import { untilDrained } from "@trainyard/runtime";
import type { FastifyReply } from "fastify";
import { httpLimits } from "./limits.ts";
import { Problem } from "./problem.ts";
import type { StreamItem } from "./request-context.ts";

/** The time within which an error of a stream is answered as a problem with its own status. */
const sseFirstMs = 250;

export type StreamOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly problemText: (error: unknown) => string;
  /** The time after which a client with unread messages is disconnected. Default: the limit of that name. */
  readonly slowMs?: number;
};

/**
 * Sends messages as server-sent events (WHATWG HTML §9.2) with `id` and `data`, and a comment now and then. An error
 * before the first message is an ordinary problem; a later one ends the stream with an event `problem`. A client that
 * does not read for long is disconnected. The server keeps nothing for it, and it continues after its last id.
 */
export async function sendStream<Message extends object>(
  reply: FastifyReply,
  codec: Codec<Message>,
  items: AsyncIterable<StreamItem<Message>>,
  { clock, signal, problemText, slowMs = httpLimits.sseSlowMs }: StreamOptions,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  const first = iterator.next();
  // The await throws an early error. A stream without a message begins after a short wait.
  await Promise.race([first, pause(clock, sseFirstMs)]);
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-request-id": reply.request.id,
  });
  raw.write(": trainyard\n\n");
  // A client that does not read gets no comments, since they would fill its buffer.
  const keepAlive = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(": still here\n\n");
  }, httpLimits.sseKeepAliveMs);
  try {
    let next = await first;
    let lastId = "";
    while (next.done !== true && !signal.aborted) {
      if (next.value.id !== "") lastId = next.value.id;
      raw.write(blockOf(codec, next.value));
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
    // Unread bytes are kept for the same time again, and then the connection is destroyed.
    if (isUnread) {
      const timer = clock.timer(slowMs, () => raw.destroy());
      raw.once("close", () => timer[Symbol.dispose]());
    }
  }
}

/** An empty id is left out, because it would make the client forget the last one. */
function blockOf<Message extends object>(codec: Codec<Message>, item: StreamItem<Message>): string {
  const id = item.id === "" ? "" : `id: ${item.id}\n`;
  if (item.message === null) return `${id}\n`;
  const text = item.text ?? JSON.stringify(codec.toFullJson(item.message));
  return `${id}data: ${text}\n\n`;
}

/** The client may reconnect, and continues after the last message that it has read. */
function tooSlow(id: string, slowMs: number): Problem {
  const detail = `the client left messages unread for ${slowMs} ms; continue after the last one that it has (${id} was sent)`;
  return new Problem(503, "reader_too_slow", detail);
}
