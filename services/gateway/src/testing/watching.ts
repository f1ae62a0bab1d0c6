/** A client of Watch that can disconnect after any frame. */
import type { JsonObject } from "@bufbuild/protobuf";
import type { TestGateway } from "./test-gateway.ts";

export type ReceivedFrame = {
  /** The cursor after the frame; empty for none. */
  readonly id: string;
  /** The content of the frame, under the name of its kind. */
  readonly frame: Readonly<Record<string, JsonObject | undefined>>;
};

/**
 * Yields frames until the stream ends. A reader that returns early disconnects. Throws the problem of a refused stream.
 */
export async function* watching(
  { url, token }: Pick<TestGateway, "url" | "token">,
  body: JsonObject,
): AsyncGenerator<ReceivedFrame> {
  const stop = new AbortController();
  const answer = await fetch(`${url}/api/v1/watch`, {
    method: "POST",
    signal: stop.signal,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200 || answer.body === null) throw new Error(await answer.text());
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      const blocks = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) continue;
        const frame = JSON.parse(data) as ReceivedFrame["frame"];
        yield { id: /^id: (.*)$/m.exec(block)?.[1] ?? "", frame };
      }
    }
  } finally {
    stop.abort();
  }
}

/** Returns the position of a cursor in the log. */
export const positionOf = (cursor: string): number =>
  (JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as [number])[0];
