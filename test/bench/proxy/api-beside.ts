/** Calls of the API while a page of a task is read. */
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { percentile } from "../support/measure.ts";
import type { Page } from "./page.ts";

/**
 * Returns the 99th percentile of calls, in milliseconds: one after the other, beside the reading of a page or alone.
 */
export async function apiP99(
  call: () => Promise<unknown>,
  forMs: number,
  read: { readonly page: Page; readonly bytes: number } | null,
): Promise<number> {
  const reader =
    read === null
      ? null
      : new Worker(join(import.meta.dirname, "download-main.ts"), { workerData: read });
  if (reader !== null) await once(reader, "online");
  const times: number[] = [];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const start = performance.now();
    await call();
    times.push(performance.now() - start);
  }
  await reader?.terminate();
  return percentile(times, 0.99);
}
