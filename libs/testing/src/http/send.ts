/** Writes the answers of the test servers; a truncated answer ends the connection after some bytes. */
import type { IncomingMessage, ServerResponse } from "node:http";

export type SentAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?:
    | string
    | { readonly bytes: number; readonly stream: AsyncIterable<Uint8Array> };
};

export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, content = "" }: SentAnswer,
  afterBytes: number | null,
  nowMs: number,
): Promise<void> {
  const bytes = typeof content === "string" ? Buffer.byteLength(content) : content.bytes;
  response.writeHead(status, {
    ...headers,
    ...(status === 204 || status === 304 ? {} : { "content-length": bytes }),
    date: new Date(nowMs).toUTCString(),
  });
  if (request.method === "HEAD") return void response.end();
  if (typeof content === "string") return void response.end(content);
  let left = afterBytes ?? Number.POSITIVE_INFINITY;
  try {
    for await (const chunk of content.stream) {
      const part = chunk.subarray(0, left);
      left -= part.length;
      if (response.destroyed) return;
      if (!response.write(part)) await drained(response);
      // The bytes written before still arrive.
      if (left <= 0) return request.socket.destroySoon();
    }
    response.end();
  } catch (error) {
    response.destroy(error instanceof Error ? error : new Error(String(error)));
  }
}

async function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("drain", resolve).once("close", resolve);
  await promise;
  response.off("drain", resolve).off("close", resolve);
}
