import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "@trainyard/kernel/system-clock";
import { answers, never } from "../../testing/played-receivers.ts";
import { type OpenedSink, pageOf, TestWebhooks } from "../../testing/test-webhooks.ts";

const healthyCount = 10;
const eventCount = 20;

let world: TestWebhooks;

beforeAll(async () => {
  world = await TestWebhooks.open({ clock: systemClock });
});
afterAll(() => world[Symbol.asyncDispose]());

const openAll = async (names: readonly string[]): Promise<readonly OpenedSink[]> => {
  for (const name of names) await world.create(name);
  return Promise.all(names.map((name) => world.sinkOf(name)));
};
const urlOf = (name: string) => `https://${name}.example/hook/${name}-token`;

/** Gives all sinks some events, one after another, and returns the 99th percentile of the times until arrival. */
async function p99(healthy: ReadonlyMap<string, OpenedSink>, hostile: readonly OpenedSink[]) {
  const begun = new Map<string, number>();
  const tookMs: number[] = [];
  for (const name of healthy.keys()) {
    world.receivers.plays(urlOf(name), ({ headers }) => {
      tookMs.push(performance.now() - (begun.get(headers["webhook-id"] ?? "") ?? 0));
      return { status: 200 };
    });
  }
  for (let i = 0; i < eventCount; i += 1) {
    const [event] = await world.events(1);
    if (event === undefined) throw new Error("the log has the event");
    const { id } = event.stored;
    begun.set(id, performance.now());
    const sinks = [...healthy.values(), ...hostile];
    await Promise.all(sinks.map(({ sink }) => sink.take(pageOf([event]))));
  }
  await world.until(() => tookMs.length === healthyCount * eventCount);
  return tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? 0;
}

test("ten healthy webhooks are about as fast beside receivers that refuse, hang or are slow", async () => {
  const names = Array.from({ length: healthyCount }, (_, i) => `healthy-${i}`);
  const opened = await openAll(names);
  const healthy = new Map(names.map((name, i) => [name, opened[i] as OpenedSink]));
  await p99(healthy, []);
  const aloneMs = await p99(healthy, []);
  const plays = [answers(500), answers(503), answers(404), answers(301), never];
  const hostileNames = plays.map((_, i) => `hostile-${i}`);
  for (const [i, play] of plays.entries()) world.receivers.plays(urlOf(`hostile-${i}`), play);
  const hostile = await openAll(hostileNames);
  const besideMs = await p99(healthy, hostile);
  // Half as many webhooks more share the processor; some milliseconds are noise of a shared machine.
  expect(besideMs).toBeLessThan(2 * aloneMs + 100);
  for (const { stop } of [...opened, ...hostile]) await stop();
}, 60_000);
