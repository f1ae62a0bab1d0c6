/**
 * The size of a page of events: it ends by number, and before the event whose body would exceed its bytes. The first
 * event is always in it, however large. Bytes are those of bodies; names and attributes have small limits of their own.
 */
import { logLimits } from "./limits.ts";

type Sized = { readonly body: string };

/** Returns the bytes of the bodies. */
export const bytesOfEvents = (events: readonly Sized[]): number =>
  events.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0);

/** Returns the first events, as many as a page has. */
export function firstPage<Event extends Sized>(
  events: readonly Event[],
  limit: number,
  bytesMax: number = logLimits.pageBytesMax,
): readonly Event[] {
  let [count, bytes] = [0, 0];
  for (const { body } of events) {
    bytes += Buffer.byteLength(body);
    if (count >= limit || (bytes > bytesMax && count > 0)) break;
    count += 1;
  }
  return count === events.length ? events : events.slice(0, count);
}

/**
 * Returns whether more events may follow a page. False only for a page that the next event, however large, would have
 * fitted into: it reached the end.
 */
export function isFullPage(
  page: readonly Sized[],
  limit: number,
  bytesMax: number = logLimits.pageBytesMax,
): boolean {
  if (page.length === 0 || page.length >= limit) return page.length > 0;
  return bytesOfEvents(page) + logLimits.bodyBytesMax > bytesMax;
}
