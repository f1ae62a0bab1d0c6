/**
 * The sink of the whole log for Kafka. The key of a message is the stream, so one partition has all events of a stream,
 * in order. A place is settled after the brokers' answer. What comes again after a failure is therefore a suffix of
 * each partition, in the same order, and a consumer skips each event whose `ce_sequence` is not above its last.
 */
import { binaryModeOf, type LeavingEvent } from "@trainyard/outbound";
import type { Logger } from "@trainyard/runtime";
import { feedsLimits } from "../../limits.ts";
import type { OperatorSink } from "../dispatch/dispatcher.ts";
import type { OpenSink, Page, Sink, SinkContext } from "../dispatch/sink.ts";
import type { KafkaConfig } from "./config.ts";
import { kafkajsProducer } from "./kafkajs-producer.ts";
import type { ConnectKafka, KafkaMessage, KafkaProducer } from "./producer.ts";

/** Returns the operator's sinks for Kafka: one, or none if it is not set up. */
export function kafkaSinks(config: KafkaConfig | null, logger: Logger): readonly OperatorSink[] {
  if (config === null) return [];
  // No subscription can have a name with a colon. Another topic gets the log from its first event.
  const name = `kafka:${config.topic}`;
  return [{ name, open: kafkaSink(kafkajsProducer(config, logger)) }];
}

export function kafkaSink(connect: ConnectKafka): OpenSink {
  return async (context) => new KafkaSink(context, await connect(context.signal));
}

class KafkaSink implements Sink {
  readonly #context: SinkContext;
  readonly #producer: KafkaProducer;
  #works = false;

  constructor(context: SinkContext, producer: KafkaProducer) {
    this.#context = context;
    this.#producer = producer;
  }

  async take({ events, upTo }: Page): Promise<void> {
    const { settled, failed } = this.#context;
    for (const { messages, last } of batchesOf(events)) {
      await this.#producer.send(messages);
      settled({ position: last.stored.position, event: last.stored.id });
    }
    settled(upTo);
    if (!this.#works) failed(null);
    this.#works = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#producer[Symbol.asyncDispose]();
  }
}

function messageOf(event: LeavingEvent): KafkaMessage {
  const { headers, body } = binaryModeOf(event, "ce_");
  // An empty value is no JSON, which readers of CloudEvents refuse, and no value at all deletes a compacted key.
  const value = body === "" ? "null" : body;
  return { key: event.stored.stream, headers: Object.fromEntries(headers), value };
}

type Batch = { readonly messages: readonly KafkaMessage[]; readonly last: LeavingEvent };

/** Returns the events in batches that a broker takes, even if all their streams are in one partition. */
function* batchesOf(events: readonly LeavingEvent[]): Iterable<Batch> {
  let messages: KafkaMessage[] = [];
  let bytes = 0;
  let last: LeavingEvent | undefined;
  for (const event of events) {
    const message = messageOf(event);
    const size = bytesOf(message);
    if (last !== undefined && bytes + size > feedsLimits.kafkaBatchBytesMax) {
      yield { messages, last };
      messages = [];
      bytes = 0;
    }
    messages.push(message);
    bytes += size;
    last = event;
  }
  if (last !== undefined) yield { messages, last };
}

/** The bytes of a message in a batch, with those of its lengths and offsets. */
function bytesOf({ key, headers, value }: KafkaMessage): number {
  let bytes = 32 + Buffer.byteLength(key) + Buffer.byteLength(value);
  for (const [name, text] of Object.entries(headers)) {
    bytes += 4 + name.length + Buffer.byteLength(text);
  }
  return bytes;
}
