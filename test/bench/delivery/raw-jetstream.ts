/**
 * The baseline of the delivery benchmarks: events published to a JetStream stream with the client's own `publish`,
 * each acknowledged, so many in flight. No ids, no order between them, no CloudEvents headers.
 */
import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** The size of an event's body beside a CloudEvents envelope, as the reference measurements used. */
const payloadBytes = 364;
export const baselineInFlight = 512;
const stream = "BASELINE";
const subject = "baseline.event";

export type RawJetStream = AsyncDisposable & {
  /** Publishes so many and gives the rate at which they were acknowledged. */
  publishPerSecond(count: number, inFlight?: number): Promise<number>;
  /** Publishes one and gives the milliseconds until it was acknowledged. */
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
