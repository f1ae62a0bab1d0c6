/** Agents whose runs a test starts and ends one by one. */
import type { Fault } from "@trainyard/contracts/events";
import { assert } from "@trainyard/kernel";
import type { World } from "./world.ts";

type Name = "a1" | "a2" | "a3";

/** Some agents, and runs that are placed on one of them. */
export class Hosts {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  async start(run: string, on: Name): Promise<void> {
    const names = this.world.agents.map(({ name }) => name);
    const constraints = { requiredLabels: [], excludedAgents: names.filter((name) => name !== on) };
    await this.world.run(run, { constraints } as never);
    const { placements } = this.world.last(`allocation-${run}`, "AllocationGranted");
    assert(placements[0]?.agent === on, `${run} is placed on ${on}`);
  }

  async end(run: string, on: Name, code: number): Promise<void> {
    this.world.named(on).end(run, { code, message: code === 0 ? "" : "no data" });
    await this.world.advance(1_000);
  }

  async fail(run: string, on: Name): Promise<Fault | undefined> {
    await this.start(run, on);
    await this.end(run, on, 1);
    return this.faultOf(run);
  }

  /** Lets a run of each experiment end well. */
  async doWell(on: Name, ...experiments: readonly number[]): Promise<void> {
    for (const experiment of experiments) {
      await this.start(`${experiment}.9#1`, on);
      await this.end(`${experiment}.9#1`, on, 0);
    }
  }

  faultOf(run: string): Fault | undefined {
    return this.world.last(`allocation-${run}`, "AllocationEnded").fault;
  }

  /** Returns the events about the trust of an agent. */
  trust(on: Name): readonly string[] {
    const names = this.world.names(`agent-${on}`);
    return names.filter((name) => name === "AgentDistrusted" || name === "AgentTrusted");
  }
}
