import { join } from "node:path";
import {
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
import { commandTable } from "./shell/commands.ts";
import { Dispatcher, type OperatorSink, type Rooms } from "./shell/dispatch/dispatcher.ts";
import { Progress } from "./shell/dispatch/progress.ts";
import { RecentEvents } from "./shell/dispatch/recent-events.ts";
import { kafkaSinks } from "./shell/kafka/sink.ts";
import { reactionHandlers } from "./shell/reactions.ts";
import { absentRoom } from "./shell/subscriptions/absent-room.ts";
import { endingLoop } from "./shell/subscriptions/endings.ts";
import { SubscriptionsView } from "./shell/view/subscriptions-view.ts";

const migrations = join(import.meta.dirname, "../migrations");

/** The rooms and sinks of a test. */
export type FeedsOverrides = TableOverrides & {
  readonly rooms?: Partial<Rooms>;
  readonly operatorSinks?: readonly OperatorSink[];
};

export async function createService(
  config: FeedsConfig,
  overrides: FeedsOverrides = {},
): Promise<Service> {
  const parts = await openParts("feeds", config, overrides);
  const { name, bus, clock, logger } = parts;
  const pool = openTables(parts, config, overrides);
  const epoch = new LogEpoch(pool, clock);
  const rooms: Rooms = {
    nats: absentRoom("nats"),
    webhook: absentRoom("webhook"),
    ...overrides.rooms,
  };
  const operatorSinks = overrides.operatorSinks ?? kafkaSinks(config.kafka, logger);
  const begin = async ({ executor, log }: TermContext): Promise<Term> => {
    const changed = (): void => dispatcher.wake();
    const subscriptions = new SubscriptionsView(pool, clock, logger, changed);
    const progress = new Progress(pool, clock, logger);
    const recent = new RecentEvents({ log, bus, clock, logger, epoch });
    const shared = { log, clock, logger, executor, subscriptions, progress, rooms, operatorSinks };
    const dispatcher = new Dispatcher({ ...shared, recent });
    const loops: readonly Loop[] = [recent, dispatcher, progress.loop, endingLoop(shared)];
    return {
      reactions: { handlers: reactionHandlers(subscriptions) },
      commands: commandTable(shared),
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
