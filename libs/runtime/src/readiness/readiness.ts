/**
 * Why a process cannot do its work now: the database or the bus is away, or one of its readers of the log is late. It
 * looks at intervals, and /readyz names every server that is away.
 *
 * Nothing here ends a process: it would be as unready after a restart.
 */
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, pause } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { Lag } from "./lag.ts";
import { LinkWatch } from "./link-watch.ts";
import { ParkedCount } from "./parked-count.ts";
import { retryReason } from "./retry-reason.ts";
import type { WriteWatch } from "./write-watch.ts";

/** A reader of the log; its position is null while it does not have to read, as that of a standby. */
export type Follower = {
  readonly name: string;
  /** The name of the reader in metrics; `name` by default. */
  readonly label?: string;
  readonly position: number | null;
};

export type ReaderLag = {
  readonly reader: string;
  readonly events: number;
  readonly seconds: number;
};

type FollowingView = {
  readonly spec: { readonly schema: string; readonly view: string };
  readonly position: number;
};

export function viewFollower({ spec, position }: FollowingView, reads = true): Follower {
  const name = `the view ${spec.schema}.${spec.view}`;
  return { name, label: spec.view, position: reads ? position : null };
}

export type Patience = {
  readonly lookMs: number;
  /** A server is away after failing for this long. */
  readonly awayMs: number;
  /** A reader is late when it is this far behind the log, and tells so when it has been late for `lateForMs`. */
  readonly behindMs: number;
  readonly lateForMs: number;
};

/** Another server that the process needs, such as the API of an agent. Resolves when it answers. */
export type Peer = {
  readonly name: string;
  /** The name of the server in metrics, without an address. */
  readonly link: string;
  /** The interval between two requests once it has answered; by default, and before, that of the looks. */
  readonly everyMs?: number;
  readonly answers: (signal: AbortSignal) => Promise<void>;
};

export type ReadinessDeps = {
  readonly name: string;
  readonly bus: Bus;
  readonly log?: Pick<EventLog, "head" | "parked"> | undefined;
  readonly peers?: readonly Peer[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** The appends of the process; absent for one that appends nothing. */
  readonly writes?: WriteWatch | undefined;
  readonly patience?: Partial<Patience> | undefined;
  readonly followers: () => readonly Follower[];
  /** Whether this replica holds the lease under which events are parked. */
  readonly decides: () => boolean;
};

type Watched = Peer & { readonly watch: LinkWatch; nextMs: number };

export class Readiness {
  readonly #deps: ReadinessDeps;
  readonly #patience: Patience;
  readonly #bus: LinkWatch;
  readonly #peers: readonly Watched[];
  readonly #lags = new Map<string, Lag>();
  readonly #parked: ParkedCount;
  #now: readonly ReaderLag[] = [];
  #head: number | null = null;
  #late: string | null = null;

  constructor(deps: ReadinessDeps) {
    const { clock, log, peers = [] } = deps;
    this.#deps = deps;
    this.#patience = { ...runtimeLimits.readiness, ...deps.patience };
    const watch = (name: string) => new LinkWatch(name, clock, this.#patience.awayMs);
    const database = { name: "the database", link: "database", answers: () => this.#readHead() };
    this.#bus = watch("the bus");
    this.#parked = new ParkedCount(deps);
    const all: readonly Peer[] = [...(log === undefined ? [] : [database]), ...peers];
    this.#peers = all.map((peer) => ({ ...peer, watch: watch(peer.name), nextMs: 0 }));
  }

  /** Returns which servers are away; null if all answer. */
  outage(): string | null {
    const watches = [...this.#peers.map(({ watch }) => watch), this.#bus];
    const reasons = watches.map((watch) => watch.reason()).filter((reason) => reason !== null);
    const refused = this.#deps.writes?.reason(this.#patience.awayMs) ?? null;
    if (refused !== null) reasons.push(refused);
    return reasons.length === 0 ? null : reasons.join("; ");
  }

  /** Returns which reader is late; null for none. */
  late(): string | null {
    return this.#late;
  }

  /** Returns the servers that the process needs, and whether they answer. */
  links(): readonly { readonly link: string; readonly isUp: boolean }[] {
    const peers = this.#peers.map(({ link, watch: { isUp } }) => ({ link, isUp }));
    return [...peers, { link: "bus", isUp: this.#bus.isUp }];
  }

  /** Returns how far each reader is behind the log, as of the last look. */
  lags(): readonly ReaderLag[] {
    return this.#now;
  }

  /** Returns the log's last known position; null before the first. */
  head(): number | null {
    return this.#head;
  }

  /** Returns the number of parked events; null if another replica counts them. */
  parked(): number | null {
    return this.#parked.count;
  }

  /** Looks at everything once. */
  async look(signal: AbortSignal): Promise<void> {
    const { bus, clock } = this.#deps;
    const askedMs = clock.monotonicMs();
    const outage = bus.outage();
    if (outage === null) this.#bus.answered();
    else this.#bus.failed(askedMs, outage);
    await Promise.all([
      this.#parked.look(),
      ...this.#peers.map(async (peer) => {
        if (askedMs < peer.nextMs) return;
        if (peer.watch.hasAnswered) peer.nextMs = askedMs + (peer.everyMs ?? 0);
        try {
          await peer.answers(signal);
          peer.watch.answered();
          peer.nextMs = askedMs + (peer.everyMs ?? 0);
        } catch (error) {
          peer.watch.failed(askedMs, retryReason(error));
        }
      }),
    ]);
    this.#late = this.#lateReader(clock.monotonicMs());
  }

  /** Looks until the signal aborts, more often while a server has never answered: they start together. */
  async run(signal: AbortSignal, looked: () => void = () => {}): Promise<void> {
    while (!signal.aborted) {
      await this.look(signal);
      looked();
      const hasBegun = this.#peers.every(({ watch }) => watch.hasAnswered);
      const { lookMs } = this.#patience;
      const pauseMs = hasBegun ? lookMs : Math.min(lookMs, runtimeLimits.firstLooksMs);
      await pause(this.#deps.clock, pauseMs, signal);
    }
  }

  async #readHead(): Promise<void> {
    if (this.#deps.log !== undefined) this.#head = await this.#deps.log.head();
  }

  #lateReader(nowMs: number): string | null {
    let late: string | null = null;
    const head = this.#head ?? 0;
    const now: ReaderLag[] = [];
    for (const { name, label: reader = name, position } of this.#deps.followers()) {
      const lag = this.#lags.get(name) ?? new Lag();
      this.#lags.set(name, lag);
      lag.saw(head, position, nowMs, this.#patience.behindMs);
      const behindMs = lag.behindMs(nowMs);
      if (position !== null)
        now.push({ reader, events: Math.max(0, head - position), seconds: behindMs / 1_000 });
      if (lag.lateForMs(nowMs) < this.#patience.lateForMs || behindMs === 0) continue;
      const seconds = Math.round(behindMs / 1_000);
      late ??= `${name} is ${seconds} s behind the log (${position} of ${head} events)`;
    }
    this.#now = now;
    return late;
  }
}
