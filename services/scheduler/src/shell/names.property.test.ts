/**
 * Random agents report under one name, in any order, to any scheduler: a run is started by at most one of them, and
 * none is taken for a run of a lost history with its id.
 */
import { AllocationReportState } from "@trainyard/contracts/agent";
import { assert } from "@trainyard/kernel";
import type { Service } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { World } from "../testing/world.ts";

class Scenario {
  readonly world: World;
  readonly #agents: ScriptedAgent[] = [];
  #scheduler: Service | null = null;
  #runs = 0;
  /** The time of the newest start, which need not rise, since clocks of hosts differ. */
  #startedMs = 1_000;

  constructor(world: World) {
    this.world = world;
  }

  get agents(): readonly ScriptedAgent[] {
    return this.#agents;
  }

  async start(folder: string, skewMs: number, held: ScriptedAgent | null = null): Promise<void> {
    this.#startedMs += 1_000;
    const place = `p${this.#agents.length}`;
    const agent = this.world.newAgent("rack", 2, place);
    agent.identity = { folder, place, startedMs: this.#startedMs + skewMs };
    // The runs in the copied folder do not run on the copy's host.
    for (const [id, one] of held?.held ?? []) {
      agent.held.set(id, { ...one, state: AllocationReportState.ENDED });
    }
    this.#agents.push(agent);
    await agent.start();
    await atRest();
  }

  one(n: number): ScriptedAgent {
    const agent = this.#agents[n % this.#agents.length];
    assert(agent !== undefined, "there are agents");
    return agent;
  }

  async copy(n: number, skewMs: number, isOfToday: boolean): Promise<void> {
    const original = this.one(n);
    const folder = original.identity?.folder ?? "";
    await this.start(folder, skewMs, isOfToday ? original : null);
  }

  async replaceScheduler(): Promise<void> {
    if (this.#scheduler !== null) await this.world.stop(this.#scheduler);
    this.#scheduler = await this.world.scheduler();
  }

  /** The agent has a run of a lost history, whose id a run of this one has or gets. */
  occupy(n: number, ahead: number): void {
    const id = `1.${this.#runs + ahead}#1`;
    const { held } = this.one(n);
    if (!held.has(id)) this.one(n).occupy(id, ["0"]);
  }

  /** The runs that count as started with a process of a lost history. */
  get confused(): readonly string[] {
    const ids = Array.from({ length: this.#runs }, (_, run) => `1.${run + 1}#1`);
    return ids.filter((id) =>
      this.world
        .events(`allocation-${id}`)
        .some(
          ({ type, data }) =>
            type === "AllocationStarted" && data.starts.some(({ pid }) => pid === lostPid),
        ),
    );
  }

  async run(): Promise<void> {
    this.#runs += 1;
    await this.world.run(`1.${this.#runs}#1`, { slots: 1 });
  }
}

/** The pid of a run of a lost history, which no launch gets. */
const lostPid = 9;

type Step = { readonly name: string; readonly take: (scenario: Scenario) => Promise<void> };

const small = fc.nat({ max: 20 });
const skew = fc.constantFrom(-5_000, 0, 5_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constant({ name: "run", take: (scenario: Scenario) => scenario.run() }),
  },
  fc.tuple(small, skew, fc.boolean()).map(([n, skewMs, isOfToday]) => ({
    name: `copy ${n} ${skewMs} ${isOfToday}`,
    take: (scenario: Scenario) => scenario.copy(n, skewMs, isOfToday),
  })),
  fc.tuple(small, fc.nat({ max: 1 })).map(([n, ahead]) => ({
    name: `${n} has a run of a lost history, ${ahead} ahead`,
    take: async (scenario: Scenario) => scenario.occupy(n, ahead),
  })),
  skew.map((skewMs) => ({
    name: `another folder ${skewMs}`,
    take: (scenario: Scenario) => scenario.start(`f${scenario.agents.length}`, skewMs),
  })),
  {
    weight: 3,
    arbitrary: small.map((n) => ({
      name: `${n} turns silent or not`,
      take: async (scenario: Scenario) => {
        scenario.one(n).silent = !scenario.one(n).silent;
      },
    })),
  },
  {
    weight: 2,
    arbitrary: small.map((n) => ({
      name: `${n} starts again`,
      take: async (scenario: Scenario) => scenario.one(n).restart(),
    })),
  },
  fc.constant({ name: "replace", take: (scenario: Scenario) => scenario.replaceScheduler() }),
  {
    weight: 3,
    arbitrary: fc.constantFrom(500, 3_000, 35_000).map((ms) => ({
      name: `${ms} ms`,
      take: (scenario: Scenario) => scenario.world.advance(ms),
    })),
  },
);

test("of several agents under one name at most one starts a run, in any order of copies and reports", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 25 }),
      fc.array(fc.nat({ max: 9 }), { minLength: 53, maxLength: 53 }),
      async (steps, fates) => {
        let messages = 0;
        const fate = () => {
          messages += 1;
          const chance = fates[messages % fates.length];
          if (chance === 0) return { copies: 0 };
          return chance === 1 ? { copies: 2, delayMs: 700 } : {};
        };
        await using world = await World.open({ bus: { fate } });
        const scenario = new Scenario(world);
        await scenario.replaceScheduler();
        await scenario.start("f0", 0);
        for (const { take } of steps) await take(scenario);
        await world.advance(5_000);
        const launched = scenario.agents.flatMap((agent) =>
          agent.launched.map(({ allocation }) => allocation),
        );
        expect(launched).toEqual([...new Set(launched)]);
        expect(scenario.confused).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});
