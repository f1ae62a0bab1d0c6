/**
 * A simulation of a thousand agents that lose their server at the same time: how often they dial, and when all are
 * back.
 */
import { expect, test } from "vitest";
import { startNats } from "../testing/nats-server.ts";
import { until } from "../contract/fixture.ts";
import { ReconnectWaits } from "./reconnect-waits.ts";
import { createNatsBus } from "./nats-bus.ts";

/** The value of the agent's limit `dialWaitLastMs`. */
const lastMs = 20_000;
const agents = 1_000;

/** A linear congruential generator: uniform in [0, 1), the same in every run. */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Outage = { readonly dials: readonly number[]; readonly allBackMs: number };

/** Every agent dials after each of its waits until the server is back. Times count from the loss. */
function simulate(awayMs: number): Outage {
  const random = seeded();
  const dials: number[] = [];
  let allBackMs = 0;
  for (let agent = 0; agent < agents; agent += 1) {
    const waits = new ReconnectWaits(lastMs, random);
    let nowMs = waits.next();
    for (; nowMs < awayMs; nowMs += waits.next()) dials.push(nowMs);
    dials.push(nowMs);
    allBackMs = Math.max(allBackMs, nowMs - awayMs);
  }
  return { dials, allBackMs };
}

const during = (dials: readonly number[], fromMs: number, toMs: number): number =>
  dials.filter((ms) => ms >= fromMs && ms < toMs).length;

test("1,000 agents whose server is unavailable for minutes dial less than 100 times a second in total", () => {
  const { dials } = simulate(300_000);
  // A constant wait of 250 to 350 ms would cause 3,300 dials a second.
  for (let fromMs = 60_000; fromMs < 300_000; fromMs += 1_000) {
    expect(during(dials, fromMs, fromMs + 1_000)).toBeLessThan(100);
  }
  expect(during(dials, 60_000, 300_000) / 240).toBeLessThan(75);
});

test.each([1_000, 5_000, 60_000, 300_000])(
  "after %i ms without their server, 1,000 agents are back within twice that time, and within 20 s",
  (awayMs) => {
    const { dials, allBackMs } = simulate(awayMs);
    expect(allBackMs).toBeLessThanOrEqual(Math.min(lastMs, 2 * awayMs));
    // The reconnections are spread out: each tenth of a second has less than a quarter of the agents.
    const busiest = Math.max(
      ...Array.from({ length: 300 }, (_, n) =>
        during(dials, awayMs + n * 100, awayMs + (n + 1) * 100),
      ),
    );
    expect(busiest).toBeLessThan(agents / 4);
  },
);

test("after a connection the waits start short again", () => {
  const waits = new ReconnectWaits(lastMs, () => 0.5);
  const first = [waits.next(), waits.next(), waits.next()];
  expect(first).toEqual([187.5, 375, 750]);
  for (let n = 0; n < 100; n += 1) expect(waits.next()).toBeLessThanOrEqual(lastMs);
  waits.reset();
  expect(waits.next()).toBe(187.5);
});

test("a client repeatedly finds a returning server and restores its subscriptions", async () => {
  await using server = await startNats();
  await using bus = await createNatsBus({ servers: server.url, name: "agent-a" });
  await using other = await createNatsBus({ servers: server.url, name: "scheduler" });
  const heard: number[] = [];
  await bus.subscribe("ty.agent.a.do", ({ body }) => heard.push(body[0] ?? 0));
  for (let round = 1; round <= 3; round += 1) {
    await server.kill();
    await until("the loss is seen", () => !bus.connected() && !other.connected());
    await server.start();
    await until("both are back", () => bus.connected() && other.connected());
    await until("it is heard", () => {
      // The server may process this message before the subscription, which is another client's.
      other.publish("ty.agent.a.do", Uint8Array.of(round));
      return heard.includes(round);
    });
  }
});
