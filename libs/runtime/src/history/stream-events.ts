import { type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { runtimeLimits } from "../limits.ts";

/** Returns all events of a stream in order, read in pages. */
export async function* streamEvents(
  log: Pick<EventLog, "read">,
  stream: string,
): AsyncGenerator<StoredEvent> {
  for (let version = 0; ; ) {
    const page = await log.read(stream, version, runtimeLimits.pageEvents);
    yield* page;
    if (!isFullPage(page, runtimeLimits.pageEvents)) return;
    version = page.at(-1)?.version ?? version;
  }
}
