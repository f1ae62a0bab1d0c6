/** A scheduler on a log and a bus in memory, scripted agents, and time that the test drives. */
import type { Bus } from "@trainyard/bus";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import {
  type AnyEvent,
  decodeEvent,
  type EventData,
  type EventName,
  encodeEvent,
  type Plain,
  shortNameOf,
} from "@trainyard/contracts";
import type { PoolCapacity } from "@trainyard/contracts/commands";
import type { StopMode } from "@trainyard/contracts/events";
import { StopWhy } from "@trainyard/contracts/events";
import { type EventLog, newEventId } from "@trainyard/event-log";
import {
  createMemoryLog,
  type MemoryLog,
  type MemoryLogOptions,
} from "@trainyard/event-log/testing";
import { assert, idOf, isTaskId } from "@trainyard/kernel";
import {
  createLogger,
  decodeReply,
  encodeRequest,
  type Logger,
  type Service,
} from "@trainyard/runtime";
import { atRest, ManualClock } from "@trainyard/testing";
import { Cluster } from "../core/cluster/cluster.ts";
import { defaultSilence } from "../config.ts";
import { createService } from "../service.ts";
import { isOfFold, recordedEventOf } from "../shell/follower.ts";
import {
  type AskedResources,
  type AskedRun,
  experimentCreated,
  runRequested,
  taskCreated,
  trialCreated,
} from "./examples.ts";
import { ScriptedAgent } from "./scripted-agent.ts";

export const tokenKey = { id: "k1", secret: Buffer.alloc(32, 7) };
const meta = {
  source: "/trainyard/experiments",
  workspace: "w",
  correlationid: "correlation",
  causationid: "",
  authid: "",
  traceparent: "",
};

export async function askCapacity(world: World): Promise<Plain<PoolCapacity>> {
  const asker = world.hub.connect("gateway");
  const body = encodeRequest("scheduler", "GetPoolCapacity", { pool: "" });
  const headers = { commitId: crypto.randomUUID(), authid: "", traceparent: "", correlationid: "" };
  const reply = await asker.request("scheduler", "GetPoolCapacity", { headers, body }, 1_000);
  assert(reply.kind === "ok", `the scheduler answers: ${JSON.stringify(reply)}`);
  return decodeReply("scheduler", "GetPoolCapacity", reply.body);
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export type WorldOptions = {
  readonly log?: MemoryLogOptions;
  readonly bus?: Parameters<typeof createMemoryBus>[0];
};

export class World implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly hub: MemoryHub;
  readonly log: MemoryLog;
  readonly experiments: EventLog;
  /** The warnings and errors of all schedulers; not kept if TEST_LOG_LEVEL shows them. */
  readonly lines: LogLine[] = [];
  readonly #services: Service[] = [];
  readonly #agents: ScriptedAgent[] = [];
  #published = 0;

  private constructor(options: WorldOptions) {
    this.log = createMemoryLog({ clock: this.clock, ...options.log });
    this.hub = createMemoryBus({ clock: this.clock, ...options.bus });
    this.experiments = this.log.as("experiments");
  }

  #logger(): Logger {
    const level = process.env["TEST_LOG_LEVEL"];
    if (level !== undefined) return createLogger("scheduler", level);
    const write = (line: string): void => void this.lines.push(JSON.parse(line) as LogLine);
    return createLogger("scheduler", "warn", { clock: this.clock, stream: { write } });
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    const relay = world.hub.connect("relay");
    await world.experiments.onAppended(() => void world.#relay(relay));
    return world;
  }

  /** A world with a scheduler, and with an agent for each number of slots: a1, a2 and so on. */
  static async scheduled(...slots: readonly number[]): Promise<World> {
    const world = await World.open();
    await world.scheduler();
    for (const [n, count] of slots.entries()) await world.agent(`a${n + 1}`, count);
    return world;
  }

  async #relay(relay: Bus): Promise<void> {
    const events = this.log.store.after(this.#published, 1_000);
    this.#published = events.at(-1)?.position ?? this.#published;
    await relay.publishEvents(events).catch(() => {}); // Like the real one, it is away when the bus is.
  }

  /** Starts a replica. With a clock of its own it can be paused while the others continue. */
  async scheduler(clock: ManualClock = this.clock, name = "scheduler"): Promise<Service> {
    const service = await createService(
      {
        postgresUrl: "",
        nats: { url: "" },
        http: { host: "127.0.0.1", port: 0 },
        logLevel: "silent",
        tokenKey,
        ...defaultSilence,
      },
      {
        log: this.log.as("scheduler"),
        bus: this.hub.connect(name),
        clock,
        logger: this.#logger(),
      },
    );
    this.#services.push(service);
    await service.start();
    await atRest();
    return service;
  }

  async stop(service: Service): Promise<void> {
    this.#services.splice(this.#services.indexOf(service), 1);
    await service[Symbol.asyncDispose]();
  }

  async agent(name: string, slots: number): Promise<ScriptedAgent> {
    const agent = this.newAgent(name, slots);
    await agent.start();
    await atRest();
    return agent;
  }

  /** Makes an agent that has not started yet. */
  newAgent(name: string, slots: number, client = name): ScriptedAgent {
    const agent = new ScriptedAgent(name, this.hub.connect(client), slots);
    this.#agents.push(agent);
    return agent;
  }

  /** Advances time in steps of an agent's beat. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      for (const agent of this.#agents) agent.report();
      await this.clock.advance(Math.min(left, 1_000));
    }
  }

  async append(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
    const result = await this.experiments.append({
      commitId: crypto.randomUUID(),
      writes: [
        {
          stream,
          expectedVersion: this.log.store.version(stream),
          events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
        },
      ],
      guards: [],
      meta,
    });
    assert(result.kind === "committed", "the event is stored");
    await atRest();
  }

  async experiment(id: string, config: Record<string, unknown> = {}): Promise<void> {
    await this.append(`experiment-${id}`, experimentCreated(config));
  }

  async trial(id: string): Promise<void> {
    await this.append(`trial-${id}`, trialCreated(id));
  }

  async task(id: string, config: Record<string, unknown> = {}, kind = "command"): Promise<void> {
    await this.append(`task-${id}`, taskCreated(config, kind));
  }

  /** Requests a run of a trial or task, and creates the trial or task if necessary. */
  async run(
    allocation: string,
    resources: AskedResources = {},
    rest: AskedRun = {},
  ): Promise<void> {
    const [trial = ""] = allocation.split("#");
    if (isTaskId(trial)) {
      if (this.log.store.version(`task-${trial}`) === 0) await this.task(trial);
      return this.append(`task-${trial}`, runRequested(allocation, resources, rest));
    }
    const [experiment = ""] = trial.split(".");
    if (this.log.store.version(`experiment-${experiment}`) === 0) await this.experiment(experiment);
    if (this.log.store.version(`trial-${trial}`) === 0) await this.trial(trial);
    await this.append(`trial-${trial}`, runRequested(allocation, resources, rest));
  }

  async requestStop(allocation: string, mode: StopMode, graceMs = 0): Promise<void> {
    const [trial = "", run] = allocation.split("#");
    await this.append(`trial-${trial}`, {
      type: "RunStopRequested",
      data: { run: Number(run), mode, why: StopWhy.PAUSE, graceMs },
    });
  }

  async withdrawStop(allocation: string): Promise<void> {
    const [trial = "", run] = allocation.split("#");
    await this.append(`trial-${trial}`, { type: "RunStopWithdrawn", data: { run: Number(run) } });
  }

  events(stream: string): readonly AnyEvent[] {
    return this.log.store.stream(stream).map((stored) => decodeEvent(stored));
  }

  /** The names of a stream's events. */
  names(stream: string): readonly string[] {
    return this.log.store.stream(stream).map((stored) => shortNameOf(stored.type));
  }

  last<Name extends EventName>(stream: string, name: Name): EventData<Name> {
    const event = this.events(stream).findLast((one) => one.type === name);
    assert(event !== undefined, `${stream} has a ${name}: ${this.names(stream).join(", ")}`);
    return event.data as EventData<Name>;
  }

  /** The service's fold, of the whole log or from a saved fold on. */
  fold(cluster: Cluster = new Cluster(), untilPosition = Number.POSITIVE_INFINITY): Cluster {
    for (const stored of this.log.store.after(cluster.position, 1_000_000)) {
      if (stored.position > untilPosition) break;
      cluster.position = stored.position;
      if (!isOfFold(stored)) continue;
      cluster.apply(recordedEventOf(stored));
    }
    return cluster;
  }

  /**
   * Throws if a slot belongs to two allocations at once, if a slot was granted while a lost agent may still run an
   * earlier allocation in it, if a grant lacks requested slots, or if two live processes had the same slot.
   */
  assertNothingOversubscribed(): void {
    for (const { violations } of this.#agents)
      assert(violations.length === 0, violations.join("; "));
    const asked = new Map<string, number>();
    const holders = new Map<string, string>();
    const placed = new Map<string, readonly { agent: string; slots: readonly string[] }[]>();
    const lost = new Set<string>();
    for (const stored of this.log.store.events) {
      const event = decodeEvent(stored);
      const id = idOf(stored.stream);
      if (event.type === "AllocationQueued") asked.set(id, event.data.resources?.slots ?? 0);
      else if (event.type === "AllocationGranted") {
        const given = event.data.placements.flatMap(({ slots }) => slots).length;
        assert(given === asked.get(id), `${id} asked for ${asked.get(id)} slots and got ${given}`);
        placed.set(id, event.data.placements);
        for (const { agent, slots } of event.data.placements) {
          assert(!lost.has(agent), `${id} went to ${agent}, which is lost`);
          for (const slot of slots) {
            const other = holders.get(`${agent}/${slot}`);
            assert(other === undefined, `${agent}/${slot} of ${id} is ${other}'s`);
            holders.set(`${agent}/${slot}`, id);
          }
        }
      } else if (event.type === "AllocationEnded") {
        for (const { agent, slots } of placed.get(id) ?? []) {
          if (!lost.has(agent)) for (const slot of slots) holders.delete(`${agent}/${slot}`);
        }
      } else if (event.type === "SlotsCleared") {
        for (const slot of event.data.slots) holders.delete(`${id}/${slot}`);
      } else if (event.type === "AgentLost") lost.add(id);
      else if (event.type === "AgentRemoved") {
        // The agent reports its running runs when it joins again.
        lost.delete(id);
        for (const key of holders.keys()) if (key.startsWith(`${id}/`)) holders.delete(key);
      } else if (event.type === "AgentReturned") {
        lost.delete(id);
        for (const key of holders.keys()) if (key.startsWith(`${id}/`)) holders.delete(key);
        for (const { allocation, slots } of event.data.occupations) {
          for (const slot of slots) holders.set(`${id}/${slot}`, allocation);
        }
      }
    }
  }

  named(agent: string): ScriptedAgent {
    const found = this.#agents.find(({ name }) => name === agent);
    assert(found !== undefined, `there is an agent ${agent}`);
    return found;
  }

  get agents(): readonly ScriptedAgent[] {
    return this.#agents;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services) await service[Symbol.asyncDispose]();
  }
}
