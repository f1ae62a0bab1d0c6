/**
 * The sink of the whole log for Kafka. The key of a message is the stream, so a stream is in one partition in its order.
 * A place is settled after the brokers' answer. What comes again after a failure is therefore a suffix of each
 * partition, in the same order, and a consumer skips each event whose `ce_sequence` is not above its last.
 */
import { binaryModeOf, type LeavingEvent } from "@trainyard/outbound";
import { feedsLimits } from "../../limits.ts";
import type { OpenSink, Page, Sink, SinkContext } from "../dispatch/sink.ts";
import type { ConnectKafka, KafkaMessage, KafkaProducer } from "./producer.ts";

export function kafkaSink(connect: ConnectKafka): OpenSink {
  return async (context) => new KafkaSink(context, await connect());
}

export function messageOf(event: LeavingEvent): KafkaMessage {
  const { headers, body } = binaryModeOf(event, "ce_");
  return { key: event.stored.stream, headers: Object.fromEntries(headers), value: body };
}

class KafkaSink implements Sink {
  readonly #context: SinkContext;
  readonly #producer: KafkaProducer;
  readonly #close: () => void;

  constructor(context: SinkContext, producer: KafkaProducer) {
    this.#context = context;
    this.#producer = producer;
    this.#close = () => void producer[Symbol.asyncDispose]();
    context.signal.addEventListener("abort", this.#close, { once: true });
    if (context.signal.aborted) this.#close();
  }

  async take({ events, upTo }: Page): Promise<void> {
    const { settled, failed } = this.#context;
    for (const { messages, last } of batchesOf(events)) {
      await this.#producer.send(messages);
      settled({ position: last.stored.position, event: last.stored.id });
    }
    settled(upTo);
    failed(null);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#context.signal.removeEventListener("abort", this.#close);
    await this.#producer[Symbol.asyncDispose]();
  }
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
