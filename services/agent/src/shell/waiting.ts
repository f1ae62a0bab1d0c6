import { watch } from "node:fs";
import { pause, systemClock } from "@trainyard/runtime";

/** The kernel's announcements are a help, not a need: where there are too many watches, looking now and then must do. */
export function watching(path: string, callback: () => void): Disposable {
  try {
    const watcher = watch(path, callback);
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EMFILE") throw error;
    return { [Symbol.dispose]: () => {} };
  }
}

/** Resolves when the work is done, has failed, or the time is over; the work goes on, and is awaited after the end is told. */
export async function atMost(work: Promise<unknown>, waitMs: number): Promise<void> {
  const over = new AbortController();
  try {
    const settled = work.catch(() => {});
    await Promise.race([settled, pause(systemClock, Math.max(0, waitMs), over.signal)]);
  } finally {
    over.abort();
  }
}
