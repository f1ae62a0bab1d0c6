/** A cluster with mock brokers of Kafka, subscriptions from the log's beginning, and readers of them. */
import { clusterStatus } from "@trainyard/local-cluster";
import { type MockKafka, startMockKafka } from "@trainyard/testing";
import pg from "pg";
import { World } from "../world/world.ts";
import { Changes } from "./changes.ts";
import { type Truth, violationsOf } from "./check.ts";
import { Consumer } from "./consumer.ts";
import type { Reader } from "./reader.ts";
import { eventually } from "../world/eventually.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

const topic = "events";

/** The filter of all subscriptions; Kafka gets the whole log. */
const filter = { object: "experiment" };

export type ReaderCounts = { readonly pull: number; readonly nats: number; readonly kafka: number };

export class FeedsStage implements AsyncDisposable {
  readonly world: World;
  readonly kafka: MockKafka;
  readonly consumers: readonly Consumer[];
  readonly webhook: WebhookReceiver;
  readonly changes: Changes;
  readonly #opened: AsyncDisposable;

  private constructor(
    parts: Pick<FeedsStage, "world" | "kafka" | "consumers" | "webhook" | "changes">,
    opened: AsyncDisposable,
  ) {
    this.world = parts.world;
    this.kafka = parts.kafka;
    this.consumers = parts.consumers;
    this.webhook = parts.webhook;
    this.changes = parts.changes;
    this.#opened = opened;
  }

  /** Starts all, with so many consumers of each kind. */
  static async start(counts: ReaderCounts, perSecond: number): Promise<FeedsStage> {
    await using opening = new AsyncDisposableStack();
    const kafka = opening.use(await startMockKafka());
    process.env["TRAINYARD_FEEDS_KAFKA_BROKERS"] = kafka.brokers.join(",");
    process.env["TRAINYARD_FEEDS_KAFKA_TOPIC"] = topic;
    process.env["TRAINYARD_FEEDS_ALLOWED_NETWORKS"] = "127.0.0.1/32";
    const world = opening.use(await World.start({ processes: true, slots: 1, restart: false }));
    const webhook = opening.use(await WebhookReceiver.open());
    const consumers: Consumer[] = [];
    for (const kind of ["pull", "nats", "kafka"] as const) {
      for (let n = 1; n <= counts[kind]; n += 1) {
        const name = `${kind}-${n}`;
        const parameters = await parametersOf(world, kafka, { kind, name });
        consumers.push(opening.use(new Consumer(kind, name, world.folder, parameters)));
      }
    }
    const settings = { url: `http://127.0.0.1:${webhook.port}/` };
    const request = { name: "webhook", delivery: "webhook", after: "0", filter, webhook: settings };
    await world.client.call("createSubscription", request);
    for (const one of consumers) await one.start();
    const changes = opening.use(await Changes.start(world.client, perSecond));
    return new FeedsStage({ world, kafka, consumers, webhook, changes }, opening.move());
  }

  get readers(): readonly Reader[] {
    return [...this.consumers, this.webhook];
  }

  /** Waits until the readers have an event; returns those that lack it after the time. */
  async lacking(
    readers: readonly Reader[],
    position: number,
    forMs: number,
  ): Promise<readonly Reader[]> {
    const missing = (): readonly Reader[] => {
      for (const one of readers) one.look();
      return readers.filter(({ positions }) => !positions.has(position));
    };
    const what = "the event has arrived";
    await eventually(what, async () => missing().length === 0, forMs).catch(() => {});
    return missing();
  }

  /** Ends the changes, waits until all events have arrived, and returns a sentence for each violation. */
  async end(
    forMs: number,
  ): Promise<{ readonly events: number; readonly found: readonly string[] }> {
    await this.changes.stop();
    const truth = await this.#truth();
    const all = [...this.consumers, this.webhook];
    const isWhole = async (): Promise<boolean> =>
      all.every((one) => {
        one.look();
        const wanted = one.kind === "kafka" ? truth.all : truth.selected;
        return wanted.every(({ sequence }) => one.positions.has(sequence));
      });
    await eventually("all events have arrived", isWhole, forMs).catch(() => {});
    const found = all.flatMap((one) => violationsOf(one.name, one.kind, one.entries, truth));
    return { events: truth.selected.length, found: [...found, ...this.webhook.violations] };
  }

  /** Returns what the log has, read from its table. */
  async #truth(): Promise<Truth> {
    const connectionString = (await clusterStatus(this.world.home))?.postgresUrl ?? "";
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      const text =
        "select position::integer as sequence, id, stream from log.events order by position";
      const { rows: all } = await client.query<Truth["all"][number]>(text);
      return { all, selected: all.filter(({ stream }) => stream.startsWith("experiment-")) };
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }
}

/** Creates the subscription of a consumer; Kafka needs none. */
async function parametersOf(
  world: World,
  kafka: MockKafka,
  { kind, name }: Pick<Consumer, "kind" | "name">,
): Promise<readonly string[]> {
  if (kind === "kafka") return [kafka.brokers.join(","), topic, name];
  const request = { name, delivery: kind, after: "0", filter };
  const { nats } = await world.client.call("createSubscription", request);
  if (nats === undefined) return [world.api, world.access.token, name];
  const natsUrl = (await clusterStatus(world.home))?.natsUrl ?? "";
  return [natsUrl, nats.user, nats.password, nats.subject];
}
