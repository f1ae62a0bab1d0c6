import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, isFullPage } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import { type SearchEvent, SearchRecord } from "@trainyard/search";
import { LRUCache } from "lru-cache";
import { apiLimits } from "../limits.ts";

/** The searches whose record is kept between analyses. */
const searchRecordsKept = 32;

/** The records of searches for analyses. They are read from the log on request, and kept for later versions. */
export class SearchRecords {
  readonly #log: EventLog;
  readonly #known = new LRUCache<string, { record: Promise<SearchRecord> }>({
    max: searchRecordsKept,
  });

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Returns the record at the log's head. Concurrent callers run one after the other, so that no event is applied
   * twice.
   */
  async of(experiment: string): Promise<SearchRecord> {
    const known = this.#known.get(experiment);
    const before = known?.record.catch(() => new SearchRecord());
    const record = this.#upToDate(experiment, before ?? Promise.resolve(new SearchRecord()));
    this.#known.set(experiment, { record });
    return record;
  }

  async #upToDate(experiment: string, before: Promise<SearchRecord>): Promise<SearchRecord> {
    const record = await before;
    const stream = streamName("search", experiment);
    for (;;) {
      const page = await this.#log.read(stream, record.version, apiLimits.searchEventsPage);
      // The cast is safe: a search's stream has only search events.
      for (const event of page) record.add(decodeEvent(event) as SearchEvent, event.timeMs);
      if (!isFullPage(page, apiLimits.searchEventsPage)) return record;
    }
  }
}
