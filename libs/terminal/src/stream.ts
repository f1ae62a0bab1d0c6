/** The stream of bytes to a task's holder, which the command line and a page carry over a WebSocket of their kind. */
import { Fault } from "@trainyard/kernel";
import { FrameDecoder } from "./frames.ts";
import { type FromHolder, fromHolder } from "./messages.ts";

export interface ByteStream {
  /**
   * Ends when the other side has closed the stream, and throws a Fault when it broke. While a chunk is handled, the
   * next one is not read.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written. Bytes after the end of the stream are dropped. */
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/**
 * Returns the messages of a stream up to the last one. Throws a Fault: that of the holder's refusal, or `link_lost` if
 * the stream ended before.
 */
export async function* messagesOf(stream: ByteStream): AsyncGenerator<FromHolder> {
  const decoder = new FrameDecoder();
  for await (const chunk of stream.chunks) {
    for (const frame of decoder.push(chunk)) {
      const message = fromHolder(frame);
      if (message === null) continue;
      if (message.type === "refused") {
        throw new Fault(message.code, message.detail, { retry: "never" });
      }
      yield message;
      if (message.type === "ended") return;
    }
  }
  throw new Fault("link_lost", "the connection was closed", { retry: "later" });
}
