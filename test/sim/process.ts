/** One replica of a service in the simulation: it runs, dies at some call to the log, and is restarted. */
import type { Bus } from "@trainyard/bus";
import type { MemoryHub } from "@trainyard/bus/testing";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { Partition, type PartitionDeps, type Term, type TermContext } from "@trainyard/runtime";
import { pino } from "pino";
import { MortalLog, type RefusalOf, type Troubles } from "./mortal-log.ts";

export type ProcessDeps = {
  readonly clock: Clock;
  readonly log: EventLog;
  readonly hub: MemoryHub;
  readonly troubles: Troubles;
  /** The time until a dead process is restarted. */
  readonly restartMs: () => number;
  /** The log's refusals; none by default. */
  readonly refusalOf?: RefusalOf;
};

export type Begin = (deps: PartitionDeps) => (context: TermContext) => Promise<Term>;

const logger = pino({ enabled: false });

export class Process {
  readonly #service: string;
  readonly #name: string;
  readonly #deps: ProcessDeps;
  readonly #begin: Begin;
  #incarnations = 0;
  #bus: Bus | null = null;

  constructor(service: string, replica: number, deps: ProcessDeps, begin: Begin) {
    this.#service = service;
    this.#name = `${service}/${replica}`;
    this.#deps = deps;
    this.#begin = begin;
  }

  /** The number of the replica's deaths. */
  get deaths(): number {
    return Math.max(0, this.#incarnations - 1);
  }

  start(): void {
    this.#incarnations += 1;
    const { clock, log, hub, troubles, refusalOf } = this.#deps;
    const bus = hub.connect(this.#service);
    this.#bus = bus;
    const mortal = new MortalLog(log, clock, troubles, () => this.#die(), refusalOf);
    const deps = { log: mortal, bus, clock, logger };
    const partition = new Partition(this.#service, 0, deps, this.#begin(deps));
    const owner = `${this.#name}/${this.#incarnations}`;
    void partition.run(owner, new AbortController().signal);
  }

  #die(): void {
    // The calls of a dead process hang forever, and its messages are dropped.
    void this.#bus?.[Symbol.asyncDispose]();
    this.#deps.clock.timer(this.#deps.restartMs(), () => this.start());
  }
}
