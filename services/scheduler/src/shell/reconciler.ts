/**
 * The loop that keeps agents and log in step. In each turn it folds up to the head, decides from fold, reports and
 * time, and commits, repeatedly until no decision is left; then it sends each affected agent its list. Turns begin
 * within a millisecond of a report, of an event that changed the fold, of a due time, and at every beat.
 *
 * Turns never overlap, and only they give places: the fold that a pass depends on holds every grant before it.
 */
import { type Bus, agentDoSubject, probeSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Report, type Wanted, WantedSchema } from "@trainyard/contracts/agent";
import { AllocationEndCause, Fault } from "@trainyard/contracts/events";
import { type Clock, isFault, pause, retrying } from "@trainyard/kernel";
import {
  endsTerm,
  type Executor,
  type LogIdentity,
  type Logger,
  noTracer,
  runtimeLimits,
  type Tracer,
} from "@trainyard/runtime";
import type { Decision } from "../core/reconcile/decision.ts";
import { Deadlines } from "../core/reconcile/deadlines.ts";
import { explanations } from "../core/reconcile/explanations.ts";
import { gather } from "../core/reconcile/gather.ts";
import type { Guard } from "../core/reconcile/guard.ts";
import { LinkMonitor } from "../core/reconcile/link-monitor.ts";
import { heldOf } from "../core/reconcile/judge-agent.ts";
import { isBelievable, Observed } from "../core/reconcile/observed.ts";
import { SetAside } from "../core/reconcile/refused.ts";
import { ReportParts } from "../core/reconcile/report-parts.ts";
import {
  addresseeOf,
  type KeyedWanted,
  planWanted,
  refusalsOf,
  wantedOf,
} from "../core/reconcile/wanted.ts";
import type { SchedulerSettings } from "../config.ts";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import { Committer } from "./committer.ts";
import type { ClusterFollower } from "./follower.ts";
import { Launches } from "./launches.ts";
import { ReportedRuns } from "./reported-runs.ts";

export type ReconcilerDeps = {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer;
  readonly telemetry: Telemetry;
  readonly follower: ClusterFollower;
  readonly executor: Executor;
  readonly identity: Pick<LogIdentity, "id">;
  readonly guard: Guard;
  readonly epoch: number;
  /** The id of this process for the lease. */
  readonly owner: string;
  /** The silence after which an agent with runs is lost that was not heard in this term; 0 if it is as any other. */
  readonly firstWordMs: number;
  readonly settings: SchedulerSettings;
};

const utf8 = new TextEncoder();
const wantedCodec = codecOf<Plain<Wanted>>(WantedSchema);

export class Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #observed: Observed;
  readonly #hearing = new LinkMonitor();
  readonly #committer: Committer;
  readonly #launches: Launches;
  readonly #runs: ReportedRuns;
  readonly #reported = new Set<string>();
  /** Agents whose list may have changed; it is sent if it has. */
  readonly #changed = new Set<string>();
  /** Agents that get their list even if it has not changed. */
  readonly #due = new Set<string>();
  readonly #problems: Decision[] = [];
  readonly #parts = new ReportParts();
  readonly #setAside = new SetAside();
  readonly #deadlines = new Deadlines();
  readonly #doubted = new Set<string>();
  #beats = 0;
  #nextBeatMs = 0;
  #woken = false;
  /** True if the log may contain events of this service that are not in the fold. */
  #behind = true;
  #roundsWithoutRest = 0;
  #wake: () => void = () => {};

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    const { cluster, requestOf } = deps.follower;
    const { epochOffset } = cluster;
    this.#observed = new Observed(deps.epoch + epochOffset);
    this.#committer = new Committer({
      ...{ executor: deps.executor, logger: deps.logger, tracer: deps.tracer ?? noTracer },
      onRefused: (decision) => {
        this.#setAside.add(decision, deps.clock.monotonicMs());
        deps.telemetry.setAside(decision.on, decision.command.kind);
      },
    });
    const { executor, settings, identity, guard } = deps;
    this.#launches = new Launches(
      ...([cluster, executor, settings.tokenKey, identity, guard] as const),
      settings.taskIdleTimeoutMs,
    );
    this.#runs = new ReportedRuns(cluster, requestOf);
  }

  /** Called after a commit, here or by a reaction. */
  committed(): void {
    this.#behind = true;
    this.#turnSoon();
  }

  #turnSoon(): void {
    this.#woken = true;
    this.#wake();
  }

  reportArrived(heard: Plain<Report>): void {
    const report = this.#parts.join(heard);
    if (report === null) return;
    const keyed = this.#runs.keyed(report);
    if (keyed === null) this.#turnSoon();
    else this.#hear(keyed);
  }

  readonly #hear = (report: Plain<Report>): void => {
    const { clock, follower, telemetry } = this.#deps;
    const held = heldOf(follower.cluster.agents.get(report.agent));
    if (!this.#observed.hear(report, held, clock.monotonicMs())) return;
    this.#doubt(report);
    telemetry.reportHeard();
    this.#reported.add(report.agent);
    this.#turnSoon();
  };

  /** Warns once a term of an impossible epoch. */
  #doubt({ agent, highestEpoch }: Plain<Report>): void {
    const isNumber = Number.isSafeInteger(highestEpoch) && highestEpoch >= 0;
    if (isNumber && isBelievable(highestEpoch, this.#observed.epoch)) return;
    if (this.#doubted.has(agent)) return;
    this.#doubted.add(agent);
    const detail = `agent ${agent} says that it has seen epoch ${highestEpoch}, which no scheduler has sent: the scheduler ignores the agent until agent.json is removed from its folder`;
    this.#deps.logger.error({ agent, highestEpoch, detail }, "epoch_unbelievable");
  }

  probeArrived(body: string): void {
    if (body === this.#probeText()) this.#hearing.heard(this.#deps.clock.monotonicMs());
  }

  linkChanged(connected: boolean): void {
    if (connected) this.#turnSoon();
    else this.#hearing.linkLost();
  }

  /** Runs until the signal aborts. Temporary faults are retried; a lost lease or a bug ends the term. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    const failed = (error: unknown, waitMs: number): void => {
      if (endsTerm(error) || !isFault(error) || error.retry === "never") throw error;
      logger.warn({ err: error, waitMs }, "turn_retried");
    };
    const retry = { policy: runtimeLimits.retry, clock, signal, failed };
    while (!signal.aborted) {
      await retrying(retry, () => {
        this.#woken = false;
        return this.#timed(() => this.#turn());
      });
      await this.#wait(signal);
    }
  }

  async #timed(turn: () => Promise<void>): Promise<void> {
    const { clock, telemetry } = this.#deps;
    const startMs = clock.monotonicMs();
    await turn();
    telemetry.turned(clock.monotonicMs() - startMs);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const { clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const untilBeatMs = this.#nextBeatMs - nowMs;
    const untilDueMs = (this.#deadlines.next() ?? this.#nextBeatMs) - nowMs;
    const woken = new AbortController();
    const stop = (): void => woken.abort();
    signal.addEventListener("abort", stop, { once: true });
    this.#wake = stop;
    await pause(clock, Math.max(0, Math.min(untilBeatMs, untilDueMs)), woken.signal);
    this.#wake = () => {};
    signal.removeEventListener("abort", stop);
  }

  async #turn(): Promise<void> {
    const { follower, clock } = this.#deps;
    const beat = clock.monotonicMs() >= this.#nextBeatMs;
    if (beat) this.#behind = true;
    await this.#runs.readOpen(this.#hear);
    const settled = await this.#decideAll();
    if (beat && settled) await this.#explain();
    if (beat) this.#beat();
    await this.#sendWanted();
    await follower.saveWhenDue(clock.monotonicMs());
  }

  /** Runs rounds until no decision is left; false if the agents should get their lists before it continues. */
  async #decideAll(): Promise<boolean> {
    const { follower, clock, settings, logger } = this.#deps;
    const { cluster } = follower;
    for (let round = 0; round < limits.roundsPerTurnMax; round += 1) {
      await this.#commitAndFollow();
      const decisions = [
        ...this.#problems.splice(0),
        ...gather({
          cluster,
          observed: this.#observed,
          reported: this.#reported,
          deadlines: this.#deadlines,
          guard: this.#deps.guard,
          nowMs: clock.monotonicMs(),
          silentForMs: (agent) =>
            this.#hearing.silentForMs(this.#observed.agent(agent)?.heardMs, clock.monotonicMs()),
          ...settings,
          tokenKey: settings.tokenKey.id,
          firstWordMs: this.#deps.firstWordMs,
          refusedSilentForMs: (agent) =>
            this.#hearing.silentForMs(this.#observed.refusedMs(agent), clock.monotonicMs()),
          leaseEpoch: this.#deps.epoch,
          isSetAside: this.#isSetAside,
        }),
      ];
      this.#noteChanges();
      if (decisions.length === 0) {
        this.#roundsWithoutRest = 0;
        return true;
      }
      this.#decide(decisions);
    }
    await this.#commitAndFollow();
    this.#noteChanges();
    this.#roundsWithoutRest += limits.roundsPerTurnMax;
    if (this.#roundsWithoutRest % limits.roundsWithoutRestMax === 0) {
      logger.error({ rounds: this.#roundsWithoutRest }, "rounds_without_rest");
    }
    this.#turnSoon();
    return false;
  }

  #decide(decisions: readonly Decision[]): void {
    this.#deps.telemetry.decided(decisions);
    this.#committer.add(decisions);
  }

  async #commitAndFollow(): Promise<void> {
    if (await this.#committer.flush()) this.#behind = true;
    if (!this.#behind) return;
    this.#behind = false;
    try {
      await this.#deps.follower.catchUp();
    } catch (error) {
      this.#behind = true;
      throw error;
    }
    this.#followEpoch();
  }

  #followEpoch(): void {
    const { epoch, follower, logger } = this.#deps;
    const from = this.#observed.epoch;
    const to = epoch + follower.cluster.epochOffset;
    if (to <= from) return;
    this.#observed.raiseEpoch(to);
    const detail = `the log was restored or failed over: epoch raised from ${from} to ${to}`;
    logger.warn({ from, to, detail }, "epoch_raised");
  }

  readonly #isSetAside = (decision: Decision): boolean =>
    this.#setAside.has(decision, this.#deps.clock.monotonicMs());

  #noteChanges(): void {
    const { touchedAgents } = this.#deps.follower.cluster;
    for (const agent of touchedAgents) this.#changed.add(agent);
    touchedAgents.clear();
  }

  /** Runs right after a placement pass, so that each run that still waits has a reason. */
  async #explain(): Promise<void> {
    const { follower, clock, guard } = this.#deps;
    const decisions = explanations(follower.cluster, guard, clock.nowMs()).filter(
      (decision) => !this.#isSetAside(decision),
    );
    if (decisions.length === 0) return;
    this.#decide(decisions);
    await this.#commitAndFollow();
  }

  #probeText(): string {
    return `${this.#deps.epoch} ${this.#deps.owner}`;
  }

  #beat(): void {
    const { bus, clock, follower } = this.#deps;
    const { agents } = follower.cluster;
    this.#nextBeatMs = clock.monotonicMs() + limits.beatMs;
    this.#beats += 1;
    bus.publish(probeSubject("scheduler"), utf8.encode(this.#probeText()));
    for (const { id, status } of agents.values()) if (status === "present") this.#due.add(id);
    this.#launches.prune();
    this.#observed.pruneRefused(clock.monotonicMs() - this.#deps.settings.agentSilenceMs);
    this.#refuse();
    this.#observed.prune(
      (agent, id) =>
        follower.cluster.placedOn(agent).has(id) || agents.get(agent)?.ghosts[id] !== undefined,
    );
  }

  /** Answers agents that ask for another agent's name. */
  #refuse(): void {
    const { cluster } = this.#deps.follower;
    for (const agent of cluster.agents.keys()) {
      for (const wanted of refusalsOf(cluster, this.#observed, agent)) this.#send(agent, wanted);
    }
  }

  #send(agent: string, wanted: KeyedWanted): void {
    this.#deps.bus.publish(
      agentDoSubject(agent),
      utf8.encode(wantedCodec.encode(this.#runs.addressed(agent, wanted))),
    );
  }

  async #sendWanted(): Promise<void> {
    const { follower } = this.#deps;
    for (const agent of new Set([...this.#due, ...this.#changed])) {
      const incarnation = addresseeOf(follower.cluster, this.#observed, agent);
      if (incarnation === undefined) {
        // The holder of the agent's name has not reported yet. Its first report adds the agent again.
        this.#changed.delete(agent);
        this.#due.delete(agent);
        continue;
      }
      const plan = planWanted(follower.cluster, this.#observed, agent);
      const launches = await this.#launches.of(agent, plan.launch, (id, problem) =>
        this.#cannotLaunch(id, problem),
      );
      const before = this.#observed.asked(agent).version;
      const wanted = wantedOf(plan, launches, this.#observed, this.#beats, incarnation);
      this.#changed.delete(agent);
      const due = this.#due.delete(agent);
      // An agent answers every list, so answering with an unchanged one would repeat forever.
      if (!due && wanted.version === before) continue;
      this.#send(agent, wanted);
    }
    if (this.#problems.length > 0) this.#turnSoon();
  }

  /** The streams of the run lack data that a retry would lack too, so the allocation ends. */
  #cannotLaunch(id: string, problem: string): void {
    const origin = this.#deps.follower.cluster.allocations.get(id)?.origin ?? null;
    const cause = AllocationEndCause.LAUNCH_FAILED;
    const launchFailure = { agents: [], silent: [], platformAway: false };
    const fault = Fault.PLATFORM;
    const rest = { exits: [], endRecord: null, message: problem, launchFailure, fault };
    const command = { kind: "end", cause, ...rest } as const;
    const decision: Decision = { on: "allocation", id, origin, command };
    if (this.#isSetAside(decision)) return;
    this.#deps.logger.error({ allocation: id, problem }, "launch_impossible");
    this.#problems.push(decision);
  }
}
