/**
 * One experiment with the real services experiments and searcher, while the script plays the rest of the platform: it
 * appends the events of scheduler, agents, metrics, registry and checkpoint-gc in the order that a hazard needs, and
 * one trouble strikes at the sweep's place.
 */
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { ExperimentOutcome, type StopKind, TrialOutcome } from "@trainyard/contracts/events";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import { idOf } from "@trainyard/kernel";
import { decodeReply, encodeRequest, enumLabel } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { Asking } from "./asking.ts";
import { eventsOf } from "./invariants.ts";
import type { Troubles } from "./mortal-log.ts";
import { type FanOutsWhere, Platform, type ServiceName } from "./platform.ts";
import { operate, type Refusals, refusalOf } from "./refusals.ts";
import { startRelay } from "./relay.ts";
import { configOf, defaultPlace, documentOf } from "./submissions.ts";
import { Teller } from "./teller.ts";
import { WallClock } from "./wrong-clocks.ts";

/** Longer than a stop, a lease's term, a restart and a retry together. */
const patienceMs = 120_000;
/** After this long without an event, none will follow. */
const quietMs = 15_000;
/** The real services; the script plays the scheduler. */
export const sceneServices = ["experiments", "searcher"] as const;
const maxRestarts = 2;
const seed = 7;

/** The commits that the log refuses, and the service whose appends fail. */
type Refusing = { now: Refusals | null; away: ServiceName | null };

type Parts = {
  readonly log: MemoryLog;
  readonly platform: Platform;
  readonly hub: MemoryHub;
  readonly clock: ManualClock;
  readonly walls: ReadonlyMap<string, WallClock>;
  readonly refusing: Refusing;
};

export class Scene {
  readonly log: MemoryLog;
  readonly #clock = new ManualClock();
  readonly #platform: Platform;
  readonly #teller: Teller;
  readonly #asking: Asking;
  readonly #hub: MemoryHub;
  readonly #refusing: Refusing;
  /** The clocks of the hosts, by name, and of the log. */
  readonly #walls: ReadonlyMap<string, WallClock>;
  id = "";

  private constructor(parts: Parts) {
    this.log = parts.log;
    this.#clock = parts.clock;
    this.#platform = parts.platform;
    this.#teller = new Teller(parts.log);
    this.#hub = parts.hub;
    this.#asking = new Asking(parts.hub.connect("people"), parts.clock);
    this.#refusing = parts.refusing;
    this.#walls = parts.walls;
  }

  static async open(
    troublesOf: (service: ServiceName) => Troubles,
    fanOuts: FanOutsWhere,
  ): Promise<Scene> {
    const clock = new ManualClock();
    const walls = new Map<string, WallClock>();
    const wallOf = (name: string): WallClock => {
      const wall = walls.get(name) ?? new WallClock(clock);
      walls.set(name, wall);
      return wall;
    };
    const log = createMemoryLog({ clock: wallOf("log") });
    const refusing: Refusing = { now: null, away: null };
    const hub = createMemoryBus({ clock });
    startRelay(log, hub, clock);
    const platform = new Platform({
      clock,
      log,
      hub,
      troublesOf: (service) => {
        const troubles = troublesOf(service);
        return (method, moment) =>
          refusing.away === service && method === "append"
            ? { kind: "fault" }
            : troubles(method, moment);
      },
      restartMs: () => 500,
      services: sceneServices,
      fanOuts,
      clockOf: (service, replica) => wallOf(`${service}/${replica}`),
      refusalOf: (commit) => (refusing.now === null ? null : refusalOf(refusing.now, commit, 0)),
    });
    platform.start();
    return new Scene({ log, platform, hub, clock, walls, refusing });
  }

  /** Copies the database; the returned function restores the copy. */
  backup(): () => void {
    return this.#platform.backup();
  }

  /** From now on the log refuses these commits; null for none. */
  refuse(refusals: Refusals | null): void {
    this.#refusing.now = refusals;
  }

  /** From now on every append of a service fails with a transient fault; null for none. */
  failAppends(service: ServiceName | null): void {
    this.#refusing.away = service;
  }

  /** Processes parked events again, as an operator would, until none is left. */
  driveAgain(): void {
    void operate(this.log, this.#hub.connect("operator"), this.#clock);
  }

  operate(): Promise<void> {
    this.driveAgain();
    const { store } = this.log;
    return this.until(() => store.parked(undefined).length === 0, "nothing is parked any more");
  }

  /** Sets the wall clocks of the log's server and of the services' hosts; without values they are correct. */
  setClocks({ logAheadMs = 0, hostsAheadMs = 0 }): void {
    for (const [name, wall] of this.#walls) {
      wall.aheadMs = name === "log" ? logAheadMs : hostsAheadMs;
    }
  }

  get elapsedMs(): number {
    return this.#clock.monotonicMs();
  }

  async create(
    searcher: SearcherConfig,
    paused = false,
    early_stopping: NormalisedConfig["early_stopping"] = [],
  ): Promise<void> {
    const request = {
      config: documentOf({ ...configOf(searcher, maxRestarts), early_stopping }),
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      contextDeletions: 0,
      submissionDeletions: 0,
      seed,
      owner: "",
      paused,
      place: defaultPlace,
    };
    const reply = await this.#ask(
      "CreateExperiment",
      encodeRequest("experiments", "CreateExperiment", request),
    );
    this.id = idOf(decodeReply("experiments", "CreateExperiment", reply).stream);
  }

  async activate(): Promise<void> {
    const request = encodeRequest("experiments", "ActivateExperiment", { experiment: this.id });
    await this.#ask("ActivateExperiment", request);
  }

  async pause(): Promise<void> {
    const request = encodeRequest("experiments", "PauseExperiment", { experiment: this.id });
    await this.#ask("PauseExperiment", request);
  }

  async stop(kind: StopKind): Promise<void> {
    const request = { experiment: this.id, kind, reason: "" };
    await this.#ask("StopExperiment", encodeRequest("experiments", "StopExperiment", request));
  }

  /** Sends a user's verb as the gateway does; throws if it is refused. */
  async use(command: string, body: Uint8Array): Promise<void> {
    await this.#ask(command, body);
  }

  async #ask(command: string, body: Uint8Array): Promise<Uint8Array> {
    let reply: Awaited<ReturnType<Asking["ask"]>> | null = null;
    void this.#asking.ask(command, body).then((answer) => {
      reply = answer;
    });
    await this.until(() => reply !== null, `${command} is answered`);
    const answered = reply as Awaited<ReturnType<Asking["ask"]>> | null;
    if (answered?.kind !== "ok") throw new Error(`${command} is refused`);
    return answered.body;
  }

  async tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
    await this.#teller.tell(stream, events);
  }

  async until(isSo: () => boolean, what: string, forMs = patienceMs): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    while (!isSo()) {
      if (this.#clock.monotonicMs() - startMs > forMs) throw new Error(`never: ${what}`);
      await this.#clock.step();
    }
  }

  /** Waits until both services have processed everything. */
  settle(): Promise<void> {
    const { store } = this.log;
    return this.until(() => this.#platform.position >= store.head, "everything is done with");
  }

  /** Waits until no further event follows, even when a paused process wakes up late. */
  async rest(): Promise<void> {
    let head = -1;
    while (head !== this.log.store.head) {
      head = this.log.store.head;
      await this.settle();
      await this.pass(quietMs);
    }
  }

  async pass(ms: number): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    while (this.#clock.monotonicMs() - startMs < ms) await this.#clock.step();
  }

  events(stream: string): readonly AnyEvent[] {
    return eventsOf(this.log.store.stream(stream));
  }

  trial(number = 1): string {
    return `trial-${this.id}.${number}`;
  }

  allocation(run: number, number = 1): string {
    return `allocation-${this.id}.${number}#${run}`;
  }

  get search(): string {
    return `search-${this.id}`;
  }

  requests(number = 1): readonly EventData<"RunRequested">[] {
    return this.events(this.trial(number)).flatMap((event) =>
      event.type === "RunRequested" ? [event.data] : [],
    );
  }

  /** The unended run, and whether it was asked to stop; null for none. */
  unended(number = 1): { readonly run: number; readonly stopping: boolean } | null {
    let unended: { run: number; stopping: boolean } | null = null;
    for (const event of this.events(this.trial(number))) {
      if (event.type === "RunRequested") unended = { run: event.data.run, stopping: false };
      if (event.type === "RunStopRequested" && unended !== null) unended.stopping = true;
      if (event.type === "RunStopWithdrawn" && unended !== null) unended.stopping = false;
      if (event.type === "RunEnded") unended = null;
    }
    return unended;
  }

  /** The ends of the trial and its experiment, as text. */
  outcome(number = 1): { readonly trial: string; readonly experiment: string } {
    // The checkpoints of a run may complete after the end.
    const trial = this.events(this.trial(number)).findLast(({ type }) => type === "TrialEnded");
    // The experiment may be described, archived and deleted afterwards.
    const experiment = this.events(`experiment-${this.id}`).findLast(
      ({ type }) => type === "ExperimentEnded" || type === "ExperimentContinued",
    );
    return {
      trial:
        trial?.type === "TrialEnded" ? enumLabel(TrialOutcome, trial.data.outcome) : "not ended",
      experiment:
        experiment?.type === "ExperimentEnded"
          ? enumLabel(ExperimentOutcome, experiment.data.outcome)
          : "not ended",
    };
  }
}
