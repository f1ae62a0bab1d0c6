/** Reads a topic by the rules of docs/integrate/kafka.md, with the settings of its recipe. */
import { Kafka, type KafkaMessage, logLevel } from "kafkajs";
import { type Entry, Journal } from "./journal.ts";

const [file = "", brokers = "", topic = "", groupId = ""] = process.argv.slice(2);
const journal = new Journal(file);
const last = new Map(journal.earlier.map((one) => [one.partition, one] as const));

function entryOf(partition: number, { headers = {} }: KafkaMessage): Entry {
  const header = (name: string): string => headers[name]?.toString() ?? "";
  const [id, stream, epoch] = [header("ce_id"), header("ce_subject"), header("ce_epoch")];
  return { sequence: Number(header("ce_sequence")), id, stream, epoch, partition };
}

const kafka = new Kafka({ brokers: brokers.split(","), logLevel: logLevel.NOTHING });
const consumer = kafka.consumer({ groupId, sessionTimeout: 6_000 });
consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
  process.stderr.write(`${String(error)}\n`);
  if (!restart) process.exit(1); // The supervisor starts it again.
});
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  autoCommit: false,
  eachBatch: async ({ batch }) => {
    const { partition } = batch;
    for (const message of batch.messages) {
      const entry = entryOf(partition, message);
      const before = last.get(partition);
      if (before?.epoch === entry.epoch && entry.sequence <= before.sequence) continue;
      last.set(partition, entry);
      journal.write(entry);
    }
    const offset = String(Number(batch.lastOffset()) + 1);
    await consumer.commitOffsets([{ topic, partition, offset }]);
  },
});
