import { once } from "node:events";
import type { Writable } from "node:stream";

/**
 * Waits until the other end has taken what was written to it, at most so long, and gives whether it has. A signal that
 * aborts ends the wait: the caller sees it. For servers that write no more to a client than it reads.
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
  // Rejects when it is stopped, or the connection breaks: both are seen by what follows.
  await once(stream, "drain", { signal: waiting.signal }).catch(() => {});
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return signal.aborted || !stream.writableNeedDrain;
}
