import { type EventLog, newEventId } from "@trainyard/event-log";
import { body, eventType, meta, type Streams } from "./payload.ts";

/** Appends `count` events to the caller's stream in one commit and returns its position; throws if the commit fails. */
export async function appendOurs(
  log: EventLog,
  streams: Streams,
  caller: number,
  count = 1,
): Promise<number> {
  const { stream, version, n } = streams.next(caller, count);
  const events = Array.from({ length: count }, (_, index) => ({
    id: newEventId(),
    type: eventType,
    body: body(n + index),
  }));
  const result = await log.append({
    commitId: newEventId(),
    writes: [{ stream, expectedVersion: version, events }],
    guards: [],
    meta,
  });
  if (result.kind !== "committed") throw new Error(`append refused: ${JSON.stringify(result)}`);
  return result.position;
}

/** Appends commits of `perCommit` events until the log has `events` events. */
export async function fillLog(
  log: EventLog,
  streams: Streams,
  events: number,
  perCommit: number,
): Promise<void> {
  let left = Math.ceil((events - (await log.head())) / perCommit);
  await Promise.all(
    Array.from({ length: 64 }, async (_, caller) => {
      while (left > 0) {
        left -= 1;
        await appendOurs(log, streams, caller, perCommit);
      }
    }),
  );
}
