/**
 * The baseline of the delivery benchmarks: events published to a JetStream stream with the client's `publish`, each
 * acknowledged, with a fixed number in flight. They have no ids, no order and no CloudEvents headers.
 */
import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** The size of an event's body without its CloudEvents envelope, as in the reference measurements. */
const payloadBytes = 364;
export const baselineInFlight = 512;
const stream = "BASELINE";
const subject = "baseline.event";

export type RawJetStream = AsyncDisposable & {
  /** Publishes `count` events and returns the rate of acknowledgements. */
  publishPerSecond(count: number, inFlight?: number): Promise<number>;
  /** Publishes one event and returns the milliseconds until its acknowledgement. */
  publishOneMs(): Promise<number>;
};

export async function openRawJetStream(url: string): Promise<RawJetStream> {
  const connection = await connect({ servers: url, noAsyncTraces: true });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: stream,
    subjects: [subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_bytes: 1024 * 1024 * 1024,
  });
  const client = jetstream(connection);
  const payload = new TextEncoder().encode("x".repeat(payloadBytes));
  return {
    async publishPerSecond(count, inFlight = baselineInFlight) {
      let next = 0;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          while (next < count) {
            next += 1;
            await client.publish(subject, payload);
          }
        }),
      );
      return count / ((performance.now() - start) / 1_000);
    },
    async publishOneMs() {
      const start = performance.now();
      await client.publish(subject, payload);
      return performance.now() - start;
    },
    async [Symbol.asyncDispose]() {
      await manager.streams.delete(stream);
      await connection.close();
    },
  };
}
