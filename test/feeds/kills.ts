/** Events flow while consumers are killed with kill -9 at random points, and continue from their files. */
import { setTimeout as delay } from "node:timers/promises";
import { drawInteger } from "@trainyard/kernel";
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { eventually } from "../world/eventually.ts";
import type { Consumer, ConsumerKind } from "./consumer.ts";
import { FeedsStage, type ReaderCounts } from "./feeds-stage.ts";

type Outcome = Awaited<ReturnType<Campaign["run"]>>;

export type KillOptions = {
  readonly seed: number;
  /** The kills of each kind, shared by its consumers. */
  readonly kills: number;
  readonly consumers: ReaderCounts;
  readonly log: (line: string) => void;
};

const changesPerSecond = 40;
/** A group of Kafka notices after 6 s that a member is dead, and NATS events come again after 30 s. */
const progressMs = 90_000;
const endMs = 120_000;
/** The most events, and the longest time after them, in one life. */
const lifeMost = { events: 40, ms: 30 } as const;
/** Some lives end before their first event. */
const startMsMost = 400;

export async function kills({ seed, kills: count, consumers, log }: KillOptions): Promise<Outcome> {
  await using stage = await FeedsStage.start(consumers, changesPerSecond);
  const violations: string[] = [];
  const startMs = performance.now();
  await Promise.all(
    (["pull", "nats", "kafka"] as const).map(async (kind) => {
      const own = stage.consumers.filter((one) => one.kind === kind);
      const found = own.map((one) => killOften(one, seed, Math.ceil(count / own.length)));
      violations.push(...(await Promise.all(found)).flat());
      log(`${kind}: ${count} kills in ${Math.round((performance.now() - startMs) / 1_000)} s`);
    }),
  );
  const { events, found } = await stage.end(endMs);
  violations.push(...found);
  const repeats = (kind: ConsumerKind): number =>
    stage.consumers
      .filter((one) => one.kind === kind)
      .reduce((sum, { entries, positions }) => sum + entries.length - positions.size, 0);
  const repeated = `pull repeated ${repeats("pull")} of them, and NATS ${repeats("nats")}`;
  return { violations, summary: `${events} events, ${count} kills of each kind; ${repeated}` };
}

async function killOften(
  consumer: Consumer,
  seed: number,
  count: number,
): Promise<readonly string[]> {
  const { name } = consumer;
  for (let life = 0; life < count; life += 1) {
    const events = drawInteger(seed, `${name}/events`, life, lifeMost.events);
    const drawnMs = events === 0 ? startMsMost : lifeMost.ms;
    const before = consumer.entries.length;
    const hasGot = async (): Promise<boolean> => {
      consumer.look();
      return consumer.entries.length >= before + events;
    };
    try {
      await eventually("events arrive", hasGot, progressMs);
    } catch {
      return [`${name} got ${consumer.entries.length - before} events in life ${life}`];
    }
    await delay(drawInteger(seed, `${name}/ms`, life, drawnMs));
    await consumer.stop();
    consumer.look();
    await consumer.start();
  }
  return [];
}
