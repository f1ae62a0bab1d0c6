/**
 * The active side of a deciding service: it holds the lease of one partition and meanwhile reacts to the log, updates
 * the views and serves the commands. A standby does none of it. All folds are dropped with the lease. A partition whose
 * reactions stopped themselves serves only RetryParked, and begins a new term when a parked event was retried with
 * success.
 */
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, isFault, pause } from "@trainyard/kernel";
import type { Check } from "../verification/check.ts";
import { type CommandFunctions, type CommandTable, commandHandlers } from "../commands/commands.ts";
import { EventFeed } from "../history/event-feed.ts";
import { Executor, LeaseLost } from "../work/executor.ts";
import { firstAbort } from "../first-abort.ts";
import { FoldCache } from "../folds/fold-cache.ts";
import { LogRewound } from "../history/log-history.ts";
import { RewindReports } from "../hold/rewind-reports.ts";
import { type HeldLease, LeaseHolder } from "./lease-holder.ts";
import { TermLog } from "./term-log.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { Loop } from "../reactions/loop.ts";
import { parkingCommand } from "../reactions/parking-command.ts";
import { ReactionLoop, type ReactionSpec } from "../reactions/reactions.ts";
import { type Follower, viewFollower } from "../readiness/readiness.ts";
import type { View } from "../views/view.ts";
import { viewCommands } from "../views/view-commands.ts";
import { Verifications, verifyCommand } from "../verification/verifications.ts";
import { viewCheck } from "../verification/verify-view.ts";
import type { WorkMetrics } from "../telemetry/work-metrics.ts";

/** The work of a service while it holds its partition; built again for every term. */
export type Term = {
  readonly reactions: Omit<ReactionSpec, "service" | "consumer" | "partition">;
  readonly commands: CommandFunctions;
  /** The read models of the service: the partition updates, shows, rebuilds and verifies them. */
  readonly views?: readonly View[];
  /** The verification checks of other state that the service folds from the log and saves. */
  readonly checks?: readonly Check[];
  /** Run beside the reactions: timers and effects of the state. */
  readonly loops?: readonly Loop[];
};

export type TermContext = {
  /**
   * Events read through this log count as known to the term: after a rewind, no commit that depends on them is written.
   */
  readonly log: EventLog;
  readonly executor: Executor;
  readonly epoch: number;
  /** The owner name of this term of this process. */
  readonly owner: string;
  /** The time for which no replica had renewed the lease, by the database's clock; null if none ever held it. */
  readonly idleMs: number | null;
  /** Aborts when the lease is lost or the service drains. */
  readonly signal: AbortSignal;
};

export type PartitionDeps = {
  readonly log: EventLog;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer;
  readonly work?: WorkMetrics;
};

export class Partition {
  readonly #service: string;
  readonly #partition: number;
  readonly #deps: PartitionDeps;
  readonly #begin: (context: TermContext) => Promise<Term>;
  readonly #reports: RewindReports;
  #state: "standby" | "active" | "stopped_by_parking" = "standby";
  #views: readonly View[] = [];
  #holdsLease = false;
  #reactions: ReactionLoop | null = null;

  constructor(
    service: string,
    partition: number,
    deps: PartitionDeps,
    begin: (context: TermContext) => Promise<Term>,
  ) {
    this.#service = service;
    this.#partition = partition;
    this.#deps = deps;
    this.#begin = begin;
    this.#reports = new RewindReports({ ...deps, name: service });
  }

  /**
   * Returns null when ready, otherwise the reason. A standby is ready, because it can take over; a partition that
   * stopped itself is not.
   */
  unready(): string | null {
    if (this.#state !== "stopped_by_parking") return null;
    return "stopped: three events in a row could not be processed";
  }

  /** The read models of the current or last term. */
  get views(): readonly View[] {
    return this.#views;
  }

  /** The readers of the log while the lease is held, also before the term has begun; a standby reads nothing. */
  followers(): readonly Follower[] {
    const reads = this.#holdsLease && this.#state !== "stopped_by_parking";
    const position = reads ? (this.#reactions?.position ?? 0) : null;
    return [
      { name: this.#service, position },
      ...this.#views.map((view) => viewFollower(view, reads)),
    ];
  }

  /** True also before the term has begun. */
  get holdsLease(): boolean {
    return this.#holdsLease;
  }

  get active(): boolean {
    return this.#state === "active";
  }

  /** Runs until the signal aborts. */
  async run(owner: string, signal: AbortSignal): Promise<void> {
    const { log, clock, logger } = this.#deps;
    const lease = `${this.#service}/${this.#partition}`;
    const holder = new LeaseHolder(log, clock, logger, lease, owner);
    await holder.run(signal, async (held) => {
      this.#holdsLease = true;
      this.#reactions = null;
      try {
        await this.#term(held);
      } catch (error) {
        await this.#ended(error, held.lost, signal);
      } finally {
        this.#holdsLease = false;
      }
    });
    await this.#reports.over();
  }

  async #term({ fence, owner, idleMs, lost }: HeldLease): Promise<void> {
    const { bus, clock, logger } = this.#deps;
    const log = new TermLog(this.#deps.log);
    const executor = new Executor(log, new FoldCache(log, undefined, logger), fence);
    await using stack = new AsyncDisposableStack();
    const failed = new AbortController();
    const signal = firstAbort(lost, failed.signal);
    const term = await this.#begin({ log, executor, epoch: fence.epoch, owner, idleMs, signal });
    this.#views = term.views ?? [];
    const feed = stack.use(
      await EventFeed.open(log, bus, clock, logger, (events) => log.see(events)),
    );
    const [service, partition] = [this.#service, this.#partition];
    const spec = { ...term.reactions, service, consumer: service, partition };
    const loop = new ReactionLoop(spec, { ...this.#deps, log, feed, executor });
    this.#reactions = loop;
    const viewChecks = this.#views.map((view) => viewCheck(service, view, this.#deps.log));
    const checks = [...viewChecks, ...(term.checks ?? [])];
    const verifications = stack.use(new Verifications(checks, clock, logger));
    const always = {
      RetryParked: parkingCommand(loop, term.loops ?? []),
      VerifyViews: verifyCommand(verifications),
      ...viewCommands(this.#views),
    } satisfies CommandTable<"common">;
    if (this.#state !== "stopped_by_parking") {
      await using _serving = await this.#serve({ ...term.commands, ...always });
      this.#state = "active";
      try {
        await this.#run([loop, ...(term.loops ?? [])], signal, failed);
      } finally {
        if (this.#state === "active") this.#state = "standby";
      }
    }
    if (this.#state === "stopped_by_parking") {
      await using _serving = await this.#serve(always);
      if (await loop.untilRetried(lost)) this.#resume();
    }
  }

  /**
   * Runs the term's loops and views until the signal aborts or one of them fails. Reactions that stop themselves do not
   * count as a failure of the term.
   */
  async #run(loops: readonly Loop[], signal: AbortSignal, failed: AbortController): Promise<void> {
    const running = [
      ...loops.map((loop) => loop.run(signal, this.#deps.tracer)),
      ...this.#views.map((view) => this.#follow(view, signal)),
    ];
    // The first failure ends the term; later ones are logged, and all loops are awaited.
    const guarded = running.map((part) =>
      part.catch((error: unknown) => {
        failed.abort();
        throw error;
      }),
    );
    const results = await Promise.allSettled(guarded);
    for (const result of results)
      if (result.status === "rejected") this.#stopOrThrow(result.reason);
  }

  async #follow(view: View, signal: AbortSignal): Promise<void> {
    const { log, bus, clock, logger } = this.#deps;
    await using feed = await EventFeed.open(log, bus, clock, logger);
    await view.run(feed, signal);
  }

  #stopOrThrow(error: unknown): void {
    if (!isFault(error) || error.code !== "parked_in_a_row") throw error;
    // Stays inactive and not ready, but keeps the lease, because another replica would park the same events.
    this.#state = "stopped_by_parking";
    this.#deps.logger.error({ err: error }, "reactions_stopped");
  }

  #resume(): void {
    this.#state = "standby";
    this.#deps.logger.info("reactions_resumed");
  }

  async #serve(commands: CommandFunctions): Promise<AsyncDisposable> {
    const { logger, bus } = this.#deps;
    const handlers = commandHandlers(this.#service, commands, logger, this.#deps);
    return bus.serve(this.#service, handlers);
  }

  async #ended(error: unknown, lost: AbortSignal, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    this.#reports.noticed(error, signal);
    if (error instanceof LeaseLost || lost.aborted) return;
    // In both cases all folds are dropped with the term; the next term begins with the log's current content.
    logger.error(
      { err: error },
      error instanceof LogRewound ? "term_ended_by_rewind" : "term_failed",
    );
    await pause(clock, runtimeLimits.retry.lastMs, signal);
  }
}
