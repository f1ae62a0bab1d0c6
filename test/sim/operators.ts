/**
 * Simulated operators who change the cluster at random while runs continue; in the end every agent and slot is enabled.
 */
import type { MemoryHub } from "@trainyard/bus/testing";
import type { CommandName, CommandRequestOf } from "@trainyard/contracts/command-services";
import { pause } from "@trainyard/kernel";
import { encodeRequest } from "@trainyard/runtime";
import type { ManualClock } from "@trainyard/testing";
import { Asking } from "./asking.ts";
import { Chance } from "./chance.ts";
import { agentNames } from "./model-hosts.ts";

const slots = ["", "0", "1"] as const;
const jobs = ["1", "2", "3", "4", "5", "6", "t1", "t2", "t3"] as const;

type OperatorsDeps = {
  readonly clock: ManualClock;
  readonly hub: MemoryHub;
  readonly seed: number;
};

export class Operators {
  readonly #clock: ManualClock;
  readonly #chance: Chance;
  readonly #asking: Asking;
  done = true;

  private constructor({ clock, hub, seed }: OperatorsDeps) {
    this.#clock = clock;
    this.#chance = new Chance(seed, "operators");
    this.#asking = new Asking(hub.connect("operators"), clock, "scheduler");
  }

  /** Operators that work until then; without a time they do nothing. */
  static at(untilMs: number | undefined, deps: OperatorsDeps): Operators {
    const operators = new Operators(deps);
    if (untilMs !== undefined) void operators.#work(untilMs);
    return operators;
  }

  async #work(untilMs: number): Promise<void> {
    this.done = false;
    while (this.#clock.monotonicMs() < untilMs) {
      await pause(this.#clock, this.#chance.between(100, 2_000));
      await this.#change();
    }
    for (const agent of agentNames) await this.#enable(agent);
    this.done = true;
  }

  /** A request that the scheduler refuses is not repeated. */
  async #change(): Promise<void> {
    const chance = this.#chance;
    const agent = chance.pick(agentNames);
    const [job, anchor] = [chance.pick(jobs), chance.pick(jobs)];
    switch (chance.between(0, 7)) {
      case 0:
      case 1:
      case 2:
        return this.#enable(agent);
      case 3: {
        const deadlineMs = chance.pick([0, 1_000, 30_000]);
        const drain = { slot: chance.pick(slots), drain: chance.happens(0.7), deadlineMs };
        return this.#ask("DisableAgent", { agent, reason: "", ...drain });
      }
      case 4:
        return this.#ask("RemoveAgent", { agent, reason: "", force: false });
      case 5:
        return this.#ask("UpdateJob", { job, priority: chance.between(1, 99) });
      case 6:
        return this.#ask("MoveJob", { job, anchor, ahead: chance.happens(0.5) });
      default: {
        const policy = chance.pick(["priority", "fair_share", "round_robin"]);
        const preemption = chance.happens(0.5);
        const preemptExemptMs = chance.pick([0, 20_000]);
        const settings = { preemption, preemptExemptMs, quotas: [] };
        const pool = { pool: "default", policy, settings, create: false };
        return this.#ask("ConfigurePool", pool);
      }
    }
  }

  async #enable(agent: string): Promise<void> {
    for (const slot of slots) await this.#ask("EnableAgent", { agent, slot });
  }

  async #ask<Name extends CommandName<"scheduler">>(
    name: Name,
    message: CommandRequestOf<"scheduler", Name>,
  ): Promise<void> {
    await this.#asking.ask(name, encodeRequest("scheduler", name, message));
  }
}
