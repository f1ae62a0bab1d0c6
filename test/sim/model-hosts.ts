/** The agents of the pool, and the requests to stop that their processes read through the gateway. */
import type { MemoryHub } from "@trainyard/bus/testing";
import { decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { type Clock, idOf } from "@trainyard/kernel";
import type { Silence } from "./hardships.ts";
import { type Health, ModelAgent } from "./model-agent.ts";
import { ownWhys } from "./rules/deadlines.ts";
import type { TrainingDeps } from "./training.ts";

const slotsEach = 2;
export const agentNames = ["a1", "a2", "a3"] as const;
/** The slots of all agents together, the most that a trial may request. */
export const slotsOfAll = agentNames.length * slotsEach;

function healthOf(agent: string, brokenHost: string | undefined): Health {
  if (brokenHost === undefined) return "fickle";
  return agent === brokenHost ? "broken" : "sound";
}

export class ModelHosts {
  readonly #deps: TrainingDeps;
  readonly #agents: readonly ModelAgent[];
  /** Allocations that their trials asked to stop, with the shortest grace of these stops. */
  readonly #byTrial = new Map<string, number>();
  /** Allocations that the scheduler asked to stop, in the same way. */
  readonly #byScheduler = new Map<string, number>();

  constructor(
    hub: MemoryHub,
    deps: TrainingDeps,
    {
      clockOf,
      lastWord = "",
      brokenHost,
      pace,
    }: {
      readonly clockOf: (agent: string) => Clock;
      readonly lastWord?: string;
      readonly brokenHost: string | undefined;
      readonly pace: number;
    },
  ) {
    this.#deps = deps;
    const graceMs = (allocation: string): number | null => {
      const asked = [this.#byTrial.get(allocation), this.#byScheduler.get(allocation)];
      return asked.some((ms) => ms !== undefined)
        ? Math.min(...asked.flatMap((ms) => ms ?? []))
        : null;
    };
    this.#agents = agentNames.map((name) => {
      const wall = clockOf(name);
      return new ModelAgent(name, hub.connect(name), slotsEach, {
        ...deps,
        graceMs,
        wall,
        lastWord,
        health: healthOf(name, brokenHost),
        pace,
      });
    });
  }

  async start(): Promise<void> {
    for (const agent of this.#agents) await agent.start();
  }

  see(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      if (!stored.type.includes("Stop")) continue;
      const event = decodeEvent(stored);
      const id = idOf(stored.stream);
      if (event.type === "RunStopRequested") {
        shorten(this.#byTrial, `${id}#${event.data.run}`, event.data.graceMs);
      }
      if (event.type === "RunStopWithdrawn") this.#byTrial.delete(`${id}#${event.data.run}`);
      if (event.type === "AllocationStopRequested" && ownWhys.includes(event.data.why)) {
        shorten(this.#byScheduler, id, event.data.graceMs);
      }
    }
  }

  /** After a rewind, the gateway answers processes from the new log. */
  rewound(events: readonly StoredEvent[]): void {
    this.#byTrial.clear();
    this.#byScheduler.clear();
    this.see(events);
  }

  freeze({ agents, forMs }: Pick<Silence, "agents" | "forMs">): void {
    for (const [n, agent] of this.#agents.entries()) {
      if (agents.includes(agentNames[n] ?? "")) agent.freeze(forMs);
    }
  }

  /** Makes an agent unavailable at random times, for less or more than the scheduler waits for it. */
  wander(untilMs: number): void {
    const { clock, chance } = this.#deps;
    for (const agent of this.#agents) {
      const next = (): void => {
        if (clock.monotonicMs() > untilMs) return;
        clock.timer(chance.between(5_000, 180_000), () => {
          agent.leave(chance.between(1_000, 90_000));
          next();
        });
      };
      next();
    }
  }
}

function shorten(graces: Map<string, number>, allocation: string, graceMs: number): void {
  graces.set(allocation, Math.min(graces.get(allocation) ?? graceMs, graceMs));
}
