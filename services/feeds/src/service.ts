import { join } from "node:path";
import { RecentEvents } from "@trainyard/outbound";
import {
  KeyedQueue,
  LogEpoch,
  type Loop,
  openParts,
  openTables,
  Partition,
  type Service,
  serviceOf,
  type TableOverrides,
  type Term,
  type TermContext,
} from "@trainyard/runtime";
import type { FeedsConfig } from "./config.ts";
import { subscriptionGauges } from "./subscription-metrics.ts";
import { createTelemetry } from "./telemetry.ts";
import { commandTable } from "./shell/commands.ts";
import { Dispatcher, type OperatorSink, type Rooms } from "./shell/dispatch/dispatcher.ts";
import { Progress } from "./shell/dispatch/progress.ts";
import { Readers } from "./shell/dispatch/readers.ts";
import { kafkaSinks } from "./shell/kafka/sink.ts";
import { reactionHandlers } from "./shell/reactions.ts";
import { NatsRoom } from "./shell/nats/nats-room.ts";
import { endingLoop } from "./shell/subscriptions/endings.ts";
import { SubscriptionsView } from "./shell/view/subscriptions-view.ts";
import { queueWaitLoop } from "./shell/webhooks/queue-waits.ts";
import { outgoingOf } from "./shell/webhooks/way-out.ts";
import { openWebhooks, type Outgoing } from "./shell/webhooks/webhooks.ts";

const migrations = join(import.meta.dirname, "../migrations");

/** The rooms and sinks of a test. */
export type FeedsOverrides = TableOverrides & {
  readonly rooms?: Partial<Rooms>;
  readonly outgoing?: Outgoing;
  readonly operatorSinks?: readonly OperatorSink[];
};

export async function createService(
  config: FeedsConfig,
  overrides: FeedsOverrides = {},
): Promise<Service> {
  const parts = await openParts("feeds", config, overrides);
  const { name, bus, clock, logger, registry } = parts;
  const pool = openTables(parts, config, overrides);
  const epoch = new LogEpoch(pool, clock);
  const nats = new NatsRoom({ pool, bus, clock, logger, usersFile: config.natsUsersFile });
  const outgoing = overrides.outgoing ?? outgoingOf(config.sending, clock);
  const telemetry = createTelemetry(registry);
  const operatorSinks = overrides.operatorSinks ?? kafkaSinks(config.kafka, logger);
  const sinks = operatorSinks.map((sink) => sink.name);
  subscriptionGauges(registry, { pool, log: parts.log, clock, sinks });
  const begin = async ({ executor, log }: TermContext): Promise<Term> => {
    const changed = (): void => {
      dispatcher.wake();
      queueWaits.wake();
    };
    const subscriptions = new SubscriptionsView(pool, clock, logger, changed);
    const readers = new Readers({ cache: executor.cache, subscriptions });
    const progress = new Progress(pool, clock, logger);
    const sending = {
      pool,
      log,
      executor,
      epoch,
      clock,
      logger,
      readers,
      count: telemetry.attempted,
      tracer: parts.tracer,
      ...outgoing,
    };
    const webhooks = openWebhooks(sending);
    const rooms: Rooms = {
      nats,
      webhook: webhooks.room,
      ...overrides.rooms,
    };
    const recent = new RecentEvents({ log, bus, clock, logger, epoch });
    const turns = new KeyedQueue();
    const delivering = { log, clock, telemetry, subscriptions, progress, rooms, operatorSinks };
    const shared = { ...delivering, logger, readers, executor, turns };
    const dispatcher = new Dispatcher({ ...shared, recent });
    const queueWaits = queueWaitLoop(shared);
    const loops: readonly Loop[] = [
      recent,
      dispatcher,
      progress.loop,
      endingLoop(shared),
      webhooks.loop,
      queueWaits,
      nats.loop,
    ];
    return {
      reactions: { handlers: reactionHandlers(subscriptions) },
      commands: commandTable({ ...shared, webhook: webhooks.commands }),
      views: [subscriptions.view],
      loops,
    };
  };
  return serviceOf(parts, {
    http: config.http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, begin),
  });
}
