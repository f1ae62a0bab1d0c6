/** A stream for code that knows no streams of Node, such as that of terminals. */
import type { Duplex } from "node:stream";
import { Fault, isFault } from "@trainyard/kernel";

/** Returns the stream as the chunks that arrive and a write that waits. The reader gets a lost link as a Fault. */
export function byteStreamOf(duplex: Duplex) {
  // The reader gets each error.
  duplex.on("error", () => {});
  return {
    chunks: chunksOf(duplex),
    write: (bytes: Uint8Array) =>
      new Promise<void>((resolve) => {
        if (duplex.destroyed || duplex.writableEnded) resolve();
        else duplex.write(bytes, () => resolve());
      }),
    close: () => void duplex.destroy(),
  };
}

async function* chunksOf(duplex: Duplex): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of duplex) yield chunk as Uint8Array;
  } catch (cause) {
    if (isFault(cause)) throw cause;
    throw new Fault("link_lost", "the connection was closed", { retry: "later", cause });
  }
}
