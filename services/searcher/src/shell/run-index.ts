import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type EventLog, isFullPage, type StoredEvent } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import { currentRunAt, type RunRequests, withRequest } from "../core/run-requests.ts";
import { limits } from "../limits.ts";

/**
 * The run requests of trials. They are read from a trial's stream at its first report, and then kept current by the
 * events of the log. The index is only a cache: its answers do not depend on how far the log was read.
 */
export class RunIndex {
  readonly #log: EventLog;
  readonly #known = new LRUCache<string, { requests: RunRequests }>({
    // Not `max`, which allocates all entries at once.
    maxSize: limits.runRequestsKept,
    sizeCalculation: () => 1,
  });

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Notes a RunRequested event. */
  note(trial: string, run: number, position: number): void {
    const known = this.#known.get(trial);
    if (known !== undefined) known.requests = withRequest(known.requests, { run, position });
    // Run 1 is the trial's first request, so the list is complete without a read of the log.
    else if (run === 1) this.#known.set(trial, { requests: [{ run, position }] });
  }

  /** Returns the newest run of the trial before the position; 0 for none. */
  async currentRunAt(trial: string, position: number): Promise<number> {
    const known = this.#known.get(trial);
    if (known !== undefined) return currentRunAt(known.requests, position);
    const requests = await this.#read(trial);
    this.#known.set(trial, { requests });
    return currentRunAt(requests, position);
  }

  async #read(trial: string): Promise<RunRequests> {
    let requests: RunRequests = [];
    for (let version = 0; ; ) {
      const page = await this.#log.read(streamName("trial", trial), version, limits.pageEvents);
      for (const stored of page) requests = withRequestOf(requests, stored);
      if (!isFullPage(page, limits.pageEvents)) return requests;
      version = page.at(-1)?.version ?? version;
    }
  }
}

function withRequestOf(requests: RunRequests, stored: StoredEvent): RunRequests {
  if (shortNameOf(stored.type) !== "RunRequested") return requests;
  const event = decodeEvent(stored);
  if (event.type !== "RunRequested") return requests;
  return withRequest(requests, { run: event.data.run, position: stored.position });
}
