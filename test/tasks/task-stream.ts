/** A stream to the holder of a task, opened as the command line does. */
import type { Duplex } from "node:stream";
import { Fault, isFault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { ByteStream } from "@trainyard/terminal";
import { dialWebSocket } from "@trainyard/tunnel";
import type { World } from "../world/world.ts";

export async function dialTask(
  world: World,
  task: string,
  signal: AbortSignal,
): Promise<ByteStream> {
  const { api, token } = world.access;
  const duplex = await dialWebSocket(`${api}/api/v1/tasks/${task}/streams/terminal`, {
    clock: systemClock,
    signal,
    headers: { authorization: `Bearer ${token}` },
    deadLooks: 4,
  });
  // The reader gets each error.
  duplex.on("error", () => {});
  return {
    chunks: chunksOf(duplex),
    write: (bytes) =>
      new Promise((resolve) => {
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
