/**
 * Where the events of one subscription go: NATS, the rows of a webhook, Kafka. A sink receives the matching events in
 * the order of the log. It says which of them need not come again; after a restart the events after that place come
 * again, so every sink delivers at least once.
 */
import type { EventPlace, LeavingEvent } from "@trainyard/outbound";

/** A part of the log: the matching events in it, and its last place, whose event need not match. */
export type Page = { readonly events: readonly LeavingEvent[]; readonly upTo: EventPlace };

export type SinkContext = {
  /** The name of the subscription, or of the operator's sink. */
  readonly name: string;
  /** The place after which the pages begin. */
  readonly from: EventPlace;
  /** Aborts when the subscription stops, or the service loses its lease. */
  readonly signal: AbortSignal;
  /** Nothing up to the place must come again. It is stored soon, and only moves forward. */
  readonly settled: (place: EventPlace) => void;
  /** The latest failure in one sentence; null after a success. People see it as the subscription's last error. */
  readonly failed: (sentence: string | null) => void;
};

export interface Sink extends AsyncDisposable {
  /** Takes the next page. Resolves when the sink takes more. What throws opens the sink again after a pause. */
  take(page: Page): Promise<void>;
}

export type OpenSink = (context: SinkContext) => Promise<Sink>;
