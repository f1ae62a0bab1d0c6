import { expect, test } from "vitest";
import { eventsOf, violationsOf } from "./invariants.ts";
import { configOf, random } from "./submissions.ts";
import { runWorld } from "./world.ts";

const submissions = [{ config: configOf(random(6, 6), 2), seed: 1 }];

test.each([false, true])(
  "a search completes and no agent is lost during a bus outage of five minutes (back empty: %s)",
  async (wipe) => {
    const outage = { afterMs: 6_000, forMs: 5 * 60_000, wipe };
    const world = await runWorld({
      seed: 1,
      calm: true,
      scheduler: true,
      submissions,
      hazards: { outage },
    });
    expect(world.ended).toBe(true);
    expect(world.virtualMs).toBeGreaterThan(outage.forMs);
    expect(await violationsOf(world.log)).toEqual([]);
    const types = eventsOf(world.log.store.events).map(({ type }) => type);
    expect(types).not.toContain("AgentLost");
  },
  30_000,
);
