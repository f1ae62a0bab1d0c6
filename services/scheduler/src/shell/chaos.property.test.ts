/**
 * Random actions of agents, messages and schedulers: no slot is given twice, a grant has all requested slots or none, a
 * restored fold continues like the whole one, and once the faults end every waiting run gets a place.
 */
import type { CommandName, CommandRequestOf } from "@trainyard/contracts/command-services";
import { StopMode } from "@trainyard/contracts/events";
import type { Service } from "@trainyard/runtime";
import { assert } from "@trainyard/kernel";
import { atRest } from "@trainyard/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { jobsOf } from "../core/pool/job-info.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

type Step = (scenario: Scenario) => Promise<void>;

class Scenario {
  readonly world: World;
  readonly requested: string[] = [];
  scheduler: Service | null = null;

  constructor(world: World) {
    this.world = world;
  }

  agent(n: number) {
    const { agents } = this.world;
    const agent = agents[n % agents.length];
    assert(agent !== undefined, "there are agents");
    return agent;
  }

  /** Sends a request as a user does: it has no effect if the scheduler refuses it or the message is lost. */
  async tell<Name extends CommandName<"scheduler">>(
    name: Name,
    message: CommandRequestOf<"scheduler", Name>,
  ): Promise<void> {
    if (this.scheduler === null) return;
    // A lost message times out only when the test advances the time.
    void send(this.world, name, message).catch(() => {});
    await atRest();
  }

  live(n: number): { readonly end: (code: number) => void } | null {
    const agent = this.agent(n);
    const running = [...agent.held.values()].filter(({ exit }) => exit === undefined);
    const one = running[n % Math.max(1, running.length)];
    return one === undefined ? null : { end: (code) => agent.end(one.allocation, { code }) };
  }
}

/** All slots and the agent itself, which are enabled at the end. */
const allSlots = ["", "0", "1"];

const small = fc.nat({ max: 50 });

const step: fc.Arbitrary<{ readonly name: string; readonly take: Step }> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        slots: fc.nat({ max: 5 }),
        priority: fc.constantFrom(1, 42),
        single: fc.boolean(),
        preemptible: fc.boolean(),
      })
      .map(({ slots, priority, single, preemptible }) => ({
        name: `run ${slots} slots at ${priority}${single ? " on one agent" : ""}${preemptible ? "" : ", not preemptible"}`,
        take: async ({ world, requested }: Scenario) => {
          const id = `${1 + (requested.length % 3)}.${requested.length + 1}#1`;
          requested.push(id);
          const singleAgent = single && slots <= 3;
          const rest = { preemptionTimeoutMs: 3_000 };
          await world.run(id, { slots, priority, singleAgent, ...rest }, { preemptible });
        },
      })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(small, fc.constantFrom(0, 1)).map(([n, code]) => ({
      name: `end ${n} with ${code}`,
      take: async (scenario: Scenario) => scenario.live(n)?.end(code),
    })),
  },
  fc.tuple(small, fc.constantFrom(0, 500)).map(([n, graceMs]) => ({
    name: `stop ${n} after ${graceMs}`,
    take: async ({ world, requested }: Scenario) => {
      const id = requested[n % Math.max(1, requested.length)];
      const mode = graceMs > 0 ? StopMode.GRACEFUL : StopMode.KILL;
      if (id !== undefined) await world.requestStop(id, mode, graceMs);
    },
  })),
  small.map((n) => ({
    name: `agent ${n} turns silent or not`,
    take: async (scenario: Scenario) => {
      scenario.agent(n).silent = !scenario.agent(n).silent;
    },
  })),
  small.map((n) => ({
    name: `agent ${n} turns stubborn or not`,
    take: async (scenario: Scenario) => {
      scenario.agent(n).stubborn = !scenario.agent(n).stubborn;
    },
  })),
  fc.tuple(small, small).map(([n, m]) => ({
    name: `agent ${n} cannot kill run ${m}, or can`,
    take: async (scenario: Scenario) => {
      const agent = scenario.agent(n);
      const held = [...agent.held.values()].filter(({ exit }) => exit === undefined);
      const one = held[m % Math.max(1, held.length)];
      const left = (one?.left ?? "") === "" ? "process 7 is still there" : "";
      if (one !== undefined) agent.tell(one.allocation, { left });
    },
  })),
  fc.boolean().map((preemption) => ({
    name: preemption ? "the pool preempts" : "the pool does not preempt",
    take: async (scenario: Scenario) => {
      const settings = { quotas: [], preemption };
      const pool = { pool: "default", policy: "priority", settings, create: true };
      await scenario.tell("ConfigurePool", pool);
    },
  })),
  small.map((n) => ({
    name: `agent ${n} restarts`,
    take: async (scenario: Scenario) => scenario.agent(n).restart(),
  })),
  fc
    .tuple(small, fc.constantFrom("", "0", "1"), fc.constantFrom(0, 2_000), fc.boolean())
    .map(([n, slot, deadlineMs, drain]) => ({
      name: `${drain ? "drain" : "disable"} ${n} ${slot} within ${deadlineMs}`,
      take: async (scenario: Scenario) => {
        const agent = scenario.agent(n).name;
        const asked = { agent, slot, reason: "", drain, deadlineMs };
        await scenario.tell("DisableAgent", asked);
      },
    })),
  fc.tuple(small, fc.constantFrom("", "0")).map(([n, slot]) => ({
    name: `enable ${n} ${slot}`,
    take: async (scenario: Scenario) => {
      await scenario.tell("EnableAgent", { agent: scenario.agent(n).name, slot });
    },
  })),
  small.map((n) => ({
    name: `remove ${n}`,
    take: async (scenario: Scenario) => {
      await scenario.tell("RemoveAgent", {
        agent: scenario.agent(n).name,
        reason: "",
        force: false,
      });
    },
  })),
  fc.tuple(fc.constantFrom("1", "2", "3"), fc.constantFrom(1, 42, 99)).map(([job, priority]) => ({
    name: `experiment ${job} gets ${priority}`,
    take: async (scenario: Scenario) => scenario.tell("UpdateJob", { job, priority }),
  })),
  fc.tuple(fc.constantFrom("1", "2", "3"), fc.boolean()).map(([job, ahead]) => ({
    name: `experiment ${job} is moved ${ahead ? "ahead of" : "behind"} 2`,
    take: async (scenario: Scenario) => scenario.tell("MoveJob", { job, anchor: "2", ahead }),
  })),
  fc.constantFrom(1_000, 5_000, 35_000).map((ms) => ({
    name: `${ms} ms pass`,
    take: async ({ world }: Scenario) => world.advance(ms),
  })),
  fc.boolean().map((on) => ({
    name: on ? "the bus is back" : "the bus goes away",
    take: async ({ world }: Scenario) => (on ? world.hub.reconnect() : world.hub.disconnect()),
  })),
  fc.constant({
    name: "the scheduler is replaced",
    take: async (scenario: Scenario) => {
      if (scenario.scheduler !== null) await scenario.world.stop(scenario.scheduler);
      scenario.scheduler = await scenario.world.scheduler();
    },
  }),
);

test("slots are never oversubscribed, grants are all or nothing, and every run gets its turn", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.array(fc.nat({ max: 9 }), { minLength: 97, maxLength: 97 }),
      async (steps, fates) => {
        let messages = 0;
        let well = false;
        const fate = () => {
          messages += 1;
          const chance = well ? 9 : fates[messages % fates.length];
          if (chance === 0) return { copies: 0 };
          return chance === 1 ? { copies: 2, delayMs: 300 } : {};
        };
        await using world = await World.open({ bus: { fate } });
        const scenario = new Scenario(world);
        scenario.scheduler = await world.scheduler();
        for (const [n, slots] of [1, 2, 3].entries()) await world.agent(`a${n}`, slots);
        for (const { take } of steps) {
          await take(scenario);
          world.assertNothingOversubscribed();
        }
        compareSaved(world);
        well = true;
        await becomesWell(scenario);
        world.assertNothingOversubscribed();
      },
    ),
    { numRuns: 40 },
  );
});

/** Compares a fold that was saved half way and continued with the fold of the whole log. */
function compareSaved(world: World): void {
  const whole = world.fold();
  const half = world.fold(undefined, Math.floor(whole.position / 2));
  const resumed = world.fold(readSnapshot(writeSnapshot(half)));
  type Named = { id: string }[];
  type Saved = { agents: Named; allocations: Named };
  const sorted = (text: string): Saved => {
    const saved = JSON.parse(text) as Saved;
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    const { agents, allocations } = saved;
    return { ...saved, agents: agents.toSorted(byId), allocations: allocations.toSorted(byId) };
  };
  expect(sorted(writeSnapshot(resumed))).toEqual(sorted(writeSnapshot(whole)));
  expect(jobsOf(resumed, "")).toEqual(jobsOf(whole, ""));
  expect([...resumed.draining].toSorted()).toEqual([...whole.draining].toSorted());
  for (const [name, { agents, queue, placed }] of whole.pools) {
    const other = resumed.pool(name);
    const inOrder = (
      runs: readonly { readonly order: number; readonly demand: { id: string } }[],
    ) => runs.toSorted((a, b) => a.order - b.order).map(({ order: _order, ...run }) => run);
    expect(inOrder([...other.placed.all()])).toEqual(inOrder([...placed.all()]));
    expect([other.agents.freeSlots, other.agents.present, other.queue.size]).toEqual([
      agents.freeSlots,
      agents.present,
      queue.size,
    ]);
  }
}

/** Ends all faults: agents answer, messages arrive, and every run ends soon after its start, until none is left. */
async function becomesWell(scenario: Scenario): Promise<void> {
  const { world, requested } = scenario;
  world.hub.reconnect();
  for (const agent of world.agents) {
    agent.silent = false;
    agent.stubborn = false;
  }
  await world.advance(10_000);
  for (const { name: agent } of world.agents) {
    for (const slot of allSlots) await scenario.tell("EnableAgent", { agent, slot });
  }
  for (let round = 0; round <= requested.length; round += 1) {
    for (const agent of world.agents) {
      for (const { allocation, exit } of agent.held.values()) {
        if (exit === undefined) agent.end(allocation, { code: 0 });
      }
    }
    await world.advance(3_000);
  }
  for (const id of requested) {
    expect([id, world.names(`allocation-${id}`).at(-1)]).toEqual([id, "AllocationEnded"]);
  }
  const [pool] = world.fold().pools.values();
  expect(pool?.agents.freeSlots).toBe(6);
}
