import type { Codec } from "@trainyard/contracts";
import type { Place, SeriesTopic } from "./core/series.ts";
import { liveLimits } from "./limits.ts";
import type { OwnFrame, SeriesHub, SeriesItem } from "./series-hub.ts";
import { WatchQueue } from "./watch-queue.ts";

/** Encodes an item once for all streams. */
export const encoded = <Message extends object>(
  codec: Codec<Message>,
  message: Message,
  position: string,
): SeriesItem<Message> => ({
  ...{ message, position, text: JSON.stringify(codec.toFullJson(message)) },
});

export type Followed = {
  /** The caller of the stream; callers take turns. */
  readonly caller: string;
  readonly topic: SeriesTopic;
  /** The place after which the stream begins; null for the present. */
  readonly from: Place | null;
  /** Whether the stream ends at the present. */
  readonly noFollow?: boolean;
};

/**
 * Yields the frames of a series until it is over. It reads page by page as fast as its client reads. At the end of the
 * series it gets the frames that the hub reads for all. A client that is too slow for them reads pages again: it gets
 * everything, and delays no other.
 */
export async function* follow<Message>(
  hub: SeriesHub<Message>,
  { caller, topic, from, noFollow = false }: Followed,
  signal: AbortSignal,
): AsyncGenerator<OwnFrame<Message>> {
  let reached = from;
  while (!signal.aborted) {
    const { frames, place, more } = await hub.page(caller, topic, reached);
    yield* frames;
    reached = place;
    if (more) continue;
    if (noFollow || frames.at(-1)?.mark.isOver === true) return;
    const queue = new WatchQueue<OwnFrame<Message>>(liveLimits.watchQueuedCharactersMax);
    using _joined = hub.join(caller, topic, reached, queue);
    try {
      for await (const frame of queue.frames(signal)) {
        yield frame;
        reached = frame.mark.place;
        if (frame.mark.isOver) return;
      }
    } catch (error) {
      if (!queue.hasOverflowed) throw error;
    }
  }
}
