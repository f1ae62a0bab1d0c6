/**
 * Reads a page that takes longer than a statement may in halves, and its halves likewise, down to single events, which
 * have all the time that they need. The caller gets the same page, however slowly.
 */
import { isFault } from "@trainyard/kernel";
import { logLimits } from "../limits.ts";
import { firstPage, isFullPage } from "../page-size.ts";
import type { StoredEvent } from "../port.ts";

export type PageSize = { readonly limit: number; readonly bytesMax: number };

/** Reads a page after a number; without a limit of time if `alone`. */
export type ReadPage = (
  after: number,
  size: PageSize,
  alone: boolean,
) => Promise<readonly StoredEvent[]>;

export const isTooSlow = (error: unknown): boolean =>
  isFault(error) && error.code === "log_timeout";

export async function readInHalves(
  numbers: "position" | "version",
  after: number,
  limit: number,
  read: ReadPage,
): Promise<readonly StoredEvent[]> {
  const whole = { limit, bytesMax: logLimits.pageBytesMax };
  const page = async (from: number, size: PageSize): Promise<readonly StoredEvent[]> => {
    const alone = size.limit === 1 && size !== whole;
    try {
      return await read(from, size, alone);
    } catch (error) {
      if (!isTooSlow(error) || size.limit === 1) throw error;
    }
    const half = halfOf(size);
    let events: readonly StoredEvent[] = [];
    for (;;) {
      const part = await page(events.at(-1)?.[numbers] ?? from, half);
      events = [...events, ...part];
      const isAll = isFullPage(events, size.limit, size.bytesMax);
      if (isAll || !isFullPage(part, half.limit, half.bytesMax)) {
        return firstPage(events, size.limit, size.bytesMax);
      }
    }
  };
  return page(after, whole);
}

function halfOf({ limit, bytesMax }: PageSize): PageSize {
  const bytes = bytesMax / 2;
  return { limit: bytes < logLimits.bodyBytesMax ? 1 : Math.ceil(limit / 2), bytesMax: bytes };
}
