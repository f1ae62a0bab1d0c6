/** Webhooks over a real PostgreSQL, with receivers in memory and a time that the test moves. */
import { join } from "node:path";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { type EventPlace, LeavingEvent, logBeginning } from "@trainyard/outbound";
import { emptyMeta, Executor, FoldCache, migrate } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { ManualClock } from "@trainyard/testing";
import pg from "pg";
import { pino } from "pino";
import type { Sink } from "../shell/dispatch/sink.ts";
import { openWebhooks, type Webhooks, type WebhooksDeps } from "../shell/webhooks/webhooks.ts";
import { subscriptions } from "../streams.ts";
import { newEventId } from "@trainyard/event-log";
import { SubscriptionDelivery } from "@trainyard/contracts/events";
import { PlayedReceivers } from "./played-receivers.ts";

const reader = { owner: "admin", tokenId: "aa", ancestors: [], expiresAtMs: 0 };
const schema = join(import.meta.dirname, "../../migrations");

export type OpenedSink = {
  readonly sink: Sink;
  readonly places: EventPlace[];
  readonly failures: (string | null)[];
  readonly stop: () => Promise<void>;
};

export class TestWebhooks implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly clock = new ManualClock();
  readonly receivers = new PlayedReceivers();
  readonly executor: Executor;
  readonly webhooks: Webhooks;
  readonly #pool: pg.Pool;
  readonly #log: EventLog;

  private constructor(stage: DatabaseStage, pool: pg.Pool, overrides: Partial<WebhooksDeps>) {
    this.stage = stage;
    this.#pool = pool;
    this.#log = createPostgresLog({ connectionString: stage.url("ty_feeds") });
    this.executor = new Executor(this.#log, new FoldCache(this.#log));
    const { receivers } = this;
    this.webhooks = openWebhooks({
      readers: { mayStillRead: async () => true },
      ...{ pool, log: this.#log, executor: this.executor, clock: this.clock },
      epoch: { current: async () => "e1" },
      logger: pino({ enabled: false }),
      ...{ sender: receivers.sender, formats: receivers.formats, checkUrl: receivers.checkUrl },
      count: () => {},
      draw: () => 0.5,
      ...overrides,
    });
  }

  static async open(overrides: Partial<WebhooksDeps> = {}): Promise<TestWebhooks> {
    const stage = await DatabaseStage.start("feeds");
    const pool = new pg.Pool({ connectionString: stage.url("ty_feeds"), max: 8 });
    await migrate(pool, "feeds", schema);
    return new TestWebhooks(stage, pool, overrides);
  }

  /** Creates a webhook with its subscription. Returns its URL. */
  async create(name: string, url = `https://${name}.example/hook/${name}-token`): Promise<string> {
    const prepared = await this.webhooks.room.prepare(
      { name, delivery: "webhook", after: 0, url, headers: {}, secret: "", reader },
      newEventId(),
    );
    if ("rejected" in prepared) throw new Error(prepared.detail);
    const identity = { commitId: newEventId(), meta: emptyMeta };
    const delivery = SubscriptionDelivery.WEBHOOK;
    await this.executor.execute(identity, async (work) => {
      await work.decide(subscriptions, name, { type: "Create", delivery, after: 0, reader });
    });
    return url;
  }

  /** Opens the sink of a webhook. */
  async sinkOf(name: string): Promise<OpenedSink> {
    const stop = new AbortController();
    const places: EventPlace[] = [];
    const failures: (string | null)[] = [];
    const sink = await this.webhooks.room.open({
      ...{ name, from: logBeginning, signal: stop.signal },
      settled: (place) => void places.push(place),
      failed: (sentence) => void failures.push(sentence),
    });
    const end = async (): Promise<void> => {
      stop.abort();
      await sink[Symbol.asyncDispose]();
    };
    return { sink, places, failures, stop: end };
  }

  /** Appends events of a pool to the log, as another service does. */
  async events(count: number): Promise<readonly LeavingEvent[]> {
    const from = await this.stage.head();
    const removed = { type: "PoolRemoved", data: {} } as const;
    await this.stage.tell("pool-a", ...Array.from({ length: count }, () => removed));
    const stored = await this.#log.readAll(from, count);
    return stored.map((event) => new LeavingEvent(event, "e1"));
  }

  /** Moves the time in steps until the condition holds. */
  async until(condition: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
    const endMs = performance.now() + 20_000;
    while (!(await condition())) {
      if (performance.now() > endMs) throw new Error("the condition does not hold after 20 s");
      await this.clock.advance(stepMs);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log[Symbol.asyncDispose]();
    await this.#pool.end();
    await this.stage[Symbol.asyncDispose]();
  }
}

export const pageOf = (events: readonly LeavingEvent[]) => {
  const last = events.at(-1)?.stored;
  return { events, upTo: { position: last?.position ?? 0, event: last?.id ?? "" } };
};
