/** A thousand agents lose their server at one moment, in simulated time: how often they dial, and when all are back. */
import { expect, test } from "vitest";
import { startNats } from "../testing/nats-server.ts";
import { until } from "../contract/fixture.ts";
import { ReconnectWaits } from "./reconnect-waits.ts";
import { createNatsBus } from "./nats-bus.ts";

/** The value of the agent's limit `dialWaitLastMs`. */
const lastMs = 20_000;
const agents = 1_000;

/** Uniform in [0, 1), the same in every run (a linear congruential generator). */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Outage = { readonly dials: readonly number[]; readonly allBackMs: number };

/**
 * Every agent dials after its wait until the server is there again, which a dial then finds. Times are since the loss.
 */
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

test("1,000 agents whose server is away for minutes dial less than 100 times a second", () => {
  const { dials } = simulate(300_000);
  // 3,300 a second with a wait of 250 to 350 ms, which does not grow.
  for (let fromMs = 60_000; fromMs < 300_000; fromMs += 1_000) {
    expect(during(dials, fromMs, fromMs + 1_000)).toBeLessThan(100);
  }
  expect(during(dials, 60_000, 300_000) / 240).toBeLessThan(75);
});

test.each([1_000, 5_000, 60_000, 300_000])(
  "after %i ms without their server, 1,000 agents are back in twice that time, and at most 20 s",
  (awayMs) => {
    const { dials, allBackMs } = simulate(awayMs);
    expect(allBackMs).toBeLessThanOrEqual(Math.min(lastMs, 2 * awayMs));
    // The returns themselves are spread: no tenth of a second has a quarter of the agents.
    const busiest = Math.max(
      ...Array.from({ length: 300 }, (_, n) =>
        during(dials, awayMs + n * 100, awayMs + (n + 1) * 100),
      ),
    );
    expect(busiest).toBeLessThan(agents / 4);
  },
);

test("waits begin short again after a connection", () => {
  const waits = new ReconnectWaits(lastMs, () => 0.5);
  const first = [waits.next(), waits.next(), waits.next()];
  expect(first).toEqual([187.5, 375, 750]);
  for (let n = 0; n < 100; n += 1) expect(waits.next()).toBeLessThanOrEqual(lastMs);
  waits.reset();
  expect(waits.next()).toBe(187.5);
});

test("a client finds a server that was away and returns, again and again, and its subscriptions with it", async () => {
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
      // The server may take this before it takes the subscription, which is another client's.
      other.publish("ty.agent.a.do", Uint8Array.of(round));
      return heard.includes(round);
    });
  }
});
