import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, isFullPage } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import { PictureRecord, type SearchEvent, type SearchPicture } from "@trainyard/search";
import { LRUCache } from "lru-cache";
import { apiLimits } from "../limits.ts";

/** The pages of pictures that are kept for later versions. */
const picturesKept = 8;

export type PictureRequest = {
  readonly experiment: string;
  /** The version of the search; 0 for the latest. */
  readonly version: number;
  /** The number of the first trial; `trials` is the number of trials. */
  readonly from: number;
  readonly trials: number;
};

/**
 * Draws pictures of searches from the log on request. The last pages are kept: the next version of a page reads only
 * its new events, while an earlier version is read from the first event.
 */
export class SearchPictures {
  readonly #log: EventLog;
  readonly #known = new LRUCache<string, { readonly record: Promise<PictureRecord | null> }>({
    max: picturesKept,
  });

  constructor(log: EventLog) {
    this.#log = log;
  }

  /**
   * Returns the picture at the version, or at the latest if that is less. Callers of the same page share one
   * computation.
   */
  async of(asked: PictureRequest): Promise<SearchPicture> {
    const { experiment, from, trials } = asked;
    const key = `${experiment} ${from} ${trials}`;
    const before = this.#known.get(key)?.record ?? Promise.resolve(null);
    // The picture is drawn before the next caller advances the record.
    const drawn = before.then(async (known) => {
      const record = await this.#recordAt(asked, known);
      return { record, picture: record.picture() };
    });
    // A record whose read failed is not kept.
    const kept = drawn.then(
      ({ record }) => record,
      () => null,
    );
    this.#known.set(key, { record: kept });
    return (await drawn).picture;
  }

  async #recordAt(
    { experiment, version, from, trials }: PictureRequest,
    known: PictureRecord | null,
  ): Promise<PictureRecord> {
    const reusable = known !== null && (version === 0 || known.version <= version);
    const record = reusable ? known : new PictureRecord(from, from + trials - 1);
    const stream = streamName("search", experiment);
    for (;;) {
      const left = version === 0 ? Number.POSITIVE_INFINITY : version - record.version;
      const size = Math.min(apiLimits.searchEventsPage, left);
      if (size === 0) return record;
      const page = await this.#log.read(stream, record.version, size);
      // The cast is safe: a search's stream has only search events.
      for (const event of page) record.add(decodeEvent(event) as SearchEvent, event.timeMs);
      if (!isFullPage(page, size)) return record;
    }
  }
}
