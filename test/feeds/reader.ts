/** A reader of events, which may be away: a consumer, or the receiver of a webhook. */
export interface Reader {
  readonly name: string;
  readonly kind: "pull" | "nats" | "kafka" | "webhook";
  /** The positions of the events that have arrived, as of the last look. */
  readonly positions: ReadonlySet<number>;
  look(): void;
  start(): Promise<void>;
  /** Ends it as kill -9 does. */
  stop(): Promise<void>;
}
