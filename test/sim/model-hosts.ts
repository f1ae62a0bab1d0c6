/** The agents of the pool, and what their processes hear of the log through the gateway: that they should stop. */
import type { MemoryHub } from "@trainyard/bus";
import { decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import { ModelAgent } from "./model-agent.ts";
import type { TrainingDeps } from "./training.ts";

const agents = 3;
const slotsEach = 2;
/** Together: a trial may not ask for more. */
export const slotsOfAll = agents * slotsEach;

export class ModelHosts {
  readonly #deps: TrainingDeps;
  readonly #agents: readonly ModelAgent[];
  readonly #stopping = new Set<string>();

  constructor(hub: MemoryHub, deps: TrainingDeps) {
    this.#deps = deps;
    const isAskedToStop = (allocation: string) => this.#stopping.has(allocation);
    this.#agents = Array.from({ length: agents }, (_, n) => {
      const name = `a${n + 1}`;
      return new ModelAgent(name, hub.connect(name), slotsEach, { ...deps, isAskedToStop });
    });
  }

  async start(): Promise<void> {
    for (const agent of this.#agents) await agent.start();
  }

  see(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      if (!stored.type.includes("StopRequested")) continue;
      const event = decodeEvent(stored);
      const id = idOf(stored.stream);
      if (event.type === "RunStopRequested") this.#stopping.add(`${id}#${event.data.run}`);
      if (event.type === "AllocationStopRequested") this.#stopping.add(id);
    }
  }

  /** Now and then an agent is away, for less or more than the scheduler waits for it. */
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
