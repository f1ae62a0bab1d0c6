import type { Client } from "@trainyard/client";
import { decodeEvent } from "@trainyard/contracts";
import { streamName } from "@trainyard/kernel";
import type { SearchEvent } from "@trainyard/search";

/** Returns all events of an experiment's search so far. */
export async function recordedSearch(
  client: Client,
  experiment: string,
): Promise<readonly SearchEvent[]> {
  await client.call("getExperiment", { experiment });
  const subject = streamName("search", experiment);
  const events: SearchEvent[] = [];
  const request = { experiment, noFollow: true };
  for await (const { message } of client.stream("watchEvents", request)) {
    if (message.subject !== subject) continue;
    const { type, data = {} } = message;
    // The cast is safe: a search's stream has only search events.
    events.push(decodeEvent({ type, body: JSON.stringify(data) }) as SearchEvent);
  }
  return events;
}
