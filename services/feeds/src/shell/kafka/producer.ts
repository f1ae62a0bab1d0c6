/** The port to Kafka: one topic, one request in flight, and no memory of what was sent. */

export type KafkaMessage = {
  /** Messages with the same key are in one partition, in the order in which they were sent. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
};

export interface KafkaProducer extends AsyncDisposable {
  /**
   * Sends the messages. Resolves once all in-sync replicas have all of them. After a failure any of them may be stored,
   * and the producer is used no more. At most one call is pending.
   */
  send(messages: readonly KafkaMessage[]): Promise<void>;
}

/**
 * Connects to the brokers; throws a Fault in one sentence that says what to do. When the signal aborts, all connections
 * are closed at once, and what is pending fails.
 */
export type ConnectKafka = (signal: AbortSignal) => Promise<KafkaProducer>;
