/**
 * Large experiments over a log in memory, for tests of fan-outs. The reactions and fan-outs of this service run as
 * under a lease, and the test appends the events of all other services. The world records the order of commits, and can
 * simulate a crash.
 */
import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, decodeEvent, type EventName, encodeEvent } from "@trainyard/contracts";
import type { AllocationEndCause } from "@trainyard/contracts/events";
import {
  type AppendRequest,
  type EventLog,
  newEventId,
  type StreamWrite,
} from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { assert, idOf, isRejection, parseTrialId } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  EventFeed,
  Executor,
  emptyMeta,
  FoldCache,
  type Reaction,
  type ReactionHandlers,
  ReactionLoop,
  type StreamFold,
  type Work,
} from "@trainyard/runtime";
import { pino } from "pino";
import type { ExperimentCommand } from "../core/experiment/commands.ts";
import { FanOuts } from "../shell/fan-outs.ts";
import { reactionHandlers } from "../shell/reactions.ts";
import { experiments } from "../streams.ts";
import { waitsBy } from "./small-fan-outs.ts";

/** The most streams that the log accepts in one commit; larger sets are appended in several commits. */
const streamsPerTelling = 250;
const consumer = "experiments";

/**
 * A commit of this service: a part of a fan-out or a reaction's decision, its experiment, and its number of streams.
 */
export type RecordedEvent = {
  readonly kind: "part" | "reaction";
  readonly experiment: string;
  readonly streams: number;
};

type AnyHandler = (event: Reaction<EventName>, work: Work) => Promise<void>;

export const configOf = (maxRestarts = 5) => ({
  max_restarts: maxRestarts,
  resources: { slots_per_trial: 1, priority: 42, resource_pool: "default" },
});

/** A cache that counts its reads, and fails to read the streams of some ids. */
class CountingCache extends FoldCache {
  looks = 0;
  readonly broken = new Set<string>();
  override async load<State>(fold: StreamFold<State>, id: string) {
    if (this.broken.has(id)) throw new Error(`${id} cannot be folded`);
    if (fold.category === "trial") this.looks += 1;
    return super.load(fold, id);
  }
}

export class FanOutsWorld {
  readonly memory: MemoryLog;
  readonly commits: RecordedEvent[] = [];
  readonly #hub = createMemoryBus();
  readonly #others: EventLog;
  /** The number of the process that uses the log; answers to a dead process are dropped. */
  #life = 0;
  #stop = new AbortController();
  #cache: CountingCache | null = null;
  #executor: Executor | null = null;
  #fanOuts: FanOuts | null = null;
  /** The part at which the process dies, before or after its commit. */
  #death: { readonly part: number; readonly written: boolean } | null = null;
  #died: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #versions = new Map<string, number>();
  /** A promise that every reaction waits for. */
  #gate: Promise<void> = Promise.resolve();
  /** The position up to which events have been reacted to. */
  #done = 0;

  constructor() {
    this.memory = createMemoryLog({
      beforeCommit: (request, role) => this.#before(request, role),
      afterCommit: (request, result, role) => {
        if (result.kind === "committed") return this.#after(request, role);
        return undefined;
      },
    });
    this.#others = this.memory.as("others");
  }

  get parts(): number {
    return this.commits.filter(({ kind }) => kind === "part").length;
  }

  /** The number of times that this process has read the fold of a trial. */
  get looks(): number {
    return this.#cache?.looks ?? 0;
  }

  async #before(request: AppendRequest, role: string): Promise<void> {
    if (!role.startsWith(consumer)) return;
    if (role !== `${consumer}:${this.#life}`) await never();
    if (this.#death === null || this.#death.written || !isPart(request)) return;
    if (this.parts + 1 >= this.#death.part) await this.#die();
  }

  async #after(request: AppendRequest, role: string): Promise<void> {
    if (!role.startsWith(consumer) || request.writes.length === 0) return;
    const [first] = request.writes;
    const id = idOf(first?.stream ?? "");
    const experiment = parseTrialId(id)?.experiment ?? id;
    const kind = isPart(request) ? "part" : "reaction";
    this.commits.push({ kind, experiment, streams: request.writes.length });
    if (this.#death?.written === true && this.parts >= this.#death.part) await this.#die();
  }

  async #die(): Promise<void> {
    this.#death = null;
    this.#life += 1;
    this.#stop.abort();
    this.#died.resolve();
    await never();
  }

  /** Resolves when the process has died at that part of its fan-outs, counted from the first one. */
  diesAt(part: number, written: boolean): Promise<void> {
    this.#death = { part, written };
    this.#died = Promise.withResolvers();
    return this.#died.promise;
  }

  /** Starts a process of this service. */
  async start(): Promise<void> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const log = this.memory.as(`${consumer}:${this.#life}`);
    this.#cache = new CountingCache(log);
    const executor = new Executor(log, this.#cache);
    this.#executor = executor;
    const logger = pino({ enabled: false });
    const waits = waitsBy(systemClock);
    const deps = { log, executor, clock: systemClock, logger, waits, onParked() {} };
    const fanOuts = await FanOuts.open(deps, consumer);
    this.#fanOuts = fanOuts;
    const feed = await EventFeed.open(
      log,
      this.#hub.connect(`${consumer}:${this.#life}`),
      systemClock,
    );
    const loop = new ReactionLoop(
      {
        service: consumer,
        consumer,
        partition: 0,
        handlers: this.#gated(reactionHandlers(waits, fanOuts)),
        after: (event) => {
          fanOuts.observe(event);
          this.#done = event.position;
        },
      },
      { ...deps, feed },
    );
    void loop.run(signal);
    void fanOuts.loop.run(signal);
    const appended = this.memory.as("relay");
    await appended.onAppended(() => feed.nudge());
  }

  #gated(handlers: ReactionHandlers): ReactionHandlers {
    const names = Object.keys(handlers) as (keyof ReactionHandlers)[];
    const gated = names.map((name) => {
      const handler = handlers[name] as AnyHandler;
      return [name, (event, work) => this.#gate.then(() => handler(event, work))] as const;
    }) satisfies readonly (readonly [string, AnyHandler])[];
    return Object.fromEntries(gated);
  }

  /** Blocks all reactions until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  /** Makes every read of a trial fail, until the returned function is called. */
  breaks(trial: string): () => void {
    const broken = this.#cache?.broken;
    broken?.add(trial);
    return () => void broken?.delete(trial);
  }

  /** The parked rows: key, position of the event, and reason. */
  async parked(): Promise<readonly string[]> {
    const rows = await this.#others.parked(consumer);
    return rows.map(({ key, position, reason }) => `${key} at ${position}: ${reason}`);
  }

  async positionOf(stream: string, version: number): Promise<number | undefined> {
    return (await this.#others.read(stream, version - 1, 1))[0]?.position;
  }

  async retryParked(key: string): Promise<string | null> {
    return (await this.#fanOuts?.loop.retryParked(key)) ?? null;
  }

  /** Retries a parked reaction. Resolves when the fan-out can do nothing more. */
  async drivenAgain(stream: string, version: number): Promise<void> {
    const [event] = await this.#others.read(stream, version - 1, 1);
    assert(event !== undefined && this.#fanOuts !== null, `${stream} has event ${version}`);
    await this.#fanOuts.begin(event);
    while (!this.#fanOuts.isIdle) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  /** Kills the process between two commits. */
  dies(): void {
    this.#life += 1;
    this.#stop.abort();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when all events have been reacted to and no fan-out is left. */
  async settled(): Promise<void> {
    for (let still = 0; still < 3; ) {
      const head = await this.#others.head();
      await new Promise((resolve) => setTimeout(resolve, 2));
      const isStill = this.#done >= head && head === (await this.#others.head());
      still = isStill && this.#fanOuts?.isIdle === true ? still + 1 : 0;
    }
  }

  /** Resolves once this service has made `count` commits of that kind for an experiment. */
  async committed(kind: RecordedEvent["kind"], experiment: string, count: number): Promise<void> {
    const isOf = (noted: RecordedEvent) => noted.kind === kind && noted.experiment === experiment;
    while (this.commits.filter(isOf).length < count) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async decide(id: string, command: ExperimentCommand): Promise<void> {
    assert(this.#executor !== null, "the process has begun");
    const done = await this.#executor.execute(
      { commitId: newEventId(), meta: emptyMeta },
      async (work) => {
        const decided = await work.decide(experiments, id, command);
        return isRejection(decided) ? decided : undefined;
      },
    );
    assert(!isRejection(done), `the command is taken: ${JSON.stringify(done)}`);
  }

  /** Appends events of many streams, each at the end of its stream. */
  async tell(events: readonly (readonly [stream: string, ...AnyEvent[]])[]): Promise<void> {
    for (let at = 0; at < events.length; at += streamsPerTelling) {
      const writes: StreamWrite[] = [];
      for (const [stream, ...told] of events.slice(at, at + streamsPerTelling)) {
        const expectedVersion = this.#versions.get(stream) ?? 0;
        this.#versions.set(stream, expectedVersion + told.length);
        const encoded = told.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
        writes.push({ stream, expectedVersion, events: encoded });
      }
      const result = await this.#others.append({
        commitId: newEventId(),
        writes,
        guards: [],
        meta: { ...emptyMeta, source: "/trainyard/world" },
      });
      assert(result.kind === "committed", `it is taken: ${JSON.stringify(result)}`);
    }
  }

  /** Makes an active experiment with `count` running trials, and waits for the reactions. */
  async begin(id: string, count: number): Promise<void> {
    const created = { config: configOf(), configSourceDigest: "", contextDigest: "" };
    const rest = {
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 7,
      name: "",
      description: "",
      labels: [],
      owner: "",
    };
    await this.tell([
      [
        `experiment-${id}`,
        {
          type: "ExperimentCreated",
          data: { ...created, ...rest, workspace: "", project: "" },
        },
        { type: "ExperimentActivated", data: {} },
      ],
    ]);
    const numbers = Array.from({ length: count }, (_, n) => n + 1);
    for (let at = 0; at < count; at += 1_000) {
      const proposals = numbers.slice(at, at + 1_000).map(
        (number): AnyEvent => ({
          type: "TrialProposed",
          data: { number, seed: number, searchVersion: 0, origin: "drawn" },
        }),
      );
      await this.tell([[`search-${id}`, ...proposals]]);
    }
    await this.tell(numbers.map((n) => [`trial-${id}.${n}`, ...runningTrial(id, n)]));
    this.#done = await this.#others.head();
    await this.#others.moveCursor({ consumer, partition: 0, position: this.#done, part: 0 });
  }

  /** Returns the newest events of a trial. */
  async trial(id: string): Promise<readonly AnyEvent[]> {
    return (await this.#others.read(`trial-${id}`, 0, 1_000)).map(decodeEvent);
  }

  async stream(name: string): Promise<readonly AnyEvent[]> {
    return (await this.#others.read(name, 0, 100_000)).map(decodeEvent);
  }
}

function runningTrial(experiment: string, number: number): readonly AnyEvent[] {
  const allocation = `${experiment}.${number}#1`;
  return [
    {
      type: "TrialCreated",
      data: {
        experiment,
        number,
        seed: number,
        warmStartCheckpoint: "",
        sourceTrial: "",
        origin: "drawn",
      },
    },
    {
      type: "RunRequested",
      data: {
        run: 1,
        fromCheckpoint: "",
        fromStep: 0,
        preemptible: true,
        experiment,
        delayMs: 0,
        workspace: "",
        owner: "",
      },
    },
    { type: "RunStarted", data: { run: 1, allocation } },
  ];
}

export const allocationEnded = (cause: AllocationEndCause): AnyEvent => ({
  type: "AllocationEnded",
  data: { cause, exits: [], message: "" },
});

/** A part of a fan-out moves no cursor, and writes to trials. */
function isPart({ cursor, writes }: AppendRequest): boolean {
  return cursor === undefined && writes.some(({ stream }) => stream.startsWith("trial-"));
}

function never(): Promise<never> {
  return new Promise<never>(() => {});
}
