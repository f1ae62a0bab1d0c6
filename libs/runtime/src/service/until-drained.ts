import { once } from "node:events";
import type { Writable } from "node:stream";

/**
 * Waits, up to `slowMs`, until the other end has received the written data, and returns whether it has. An aborted
 * signal also ends the wait. For servers that must not write more to a client than it reads.
 */
export async function untilDrained(
  stream: Pick<Writable, "writableNeedDrain"> & NodeJS.EventEmitter,
  signal: AbortSignal,
  slowMs: number,
): Promise<boolean> {
  if (!stream.writableNeedDrain || signal.aborted) return true;
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  const timer = setTimeout(stop, slowMs);
  signal.addEventListener("abort", stop);
  // Rejects if it is aborted or the connection breaks; the lines below detect both.
  await once(stream, "drain", { signal: waiting.signal }).catch(() => {});
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return signal.aborted || !stream.writableNeedDrain;
}
