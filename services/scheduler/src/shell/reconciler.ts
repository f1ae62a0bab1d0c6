/**
 * The loop that keeps agents and log in step. A turn: fold up to the head; decide what follows from fold, reports and
 * time; commit; again, until nothing follows any more; then send each agent that is concerned its list. Turns begin
 * within a millisecond of a report, of an event that changed the fold, of a due time, and at every beat.
 *
 * One turn at a time, and nobody else gives places: the fold that a pass rests on holds every grant before it.
 */
import { type Bus, agentDoSubject, probeSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Report, type Wanted, WantedSchema } from "@trainyard/contracts/agent";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { type Clock, isFault } from "@trainyard/kernel";
import { type Executor, LeaseLost, type Logger, pause, runtimeLimits } from "@trainyard/runtime";
import type { Decision } from "../core/reconcile/decision.ts";
import { explanations, gather, nextDueMs } from "../core/reconcile/gather.ts";
import { Hearing } from "../core/reconcile/hearing.ts";
import { Observed } from "../core/reconcile/observed.ts";
import { planWanted, wantedOf } from "../core/reconcile/wanted.ts";
import type { Telemetry } from "../events.ts";
import { limits } from "../limits.ts";
import { Committer } from "./committer.ts";
import type { ClusterFollower } from "./follower.ts";
import { Launches } from "./launches.ts";
import type { SchedulerSettings } from "./settings.ts";

export type ReconcilerDeps = {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly follower: ClusterFollower;
  readonly executor: Executor;
  readonly epoch: number;
  readonly settings: SchedulerSettings;
};

const utf8 = new TextEncoder();

export class Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #observed: Observed;
  readonly #hearing = new Hearing();
  readonly #committer: Committer;
  readonly #launches: Launches;
  readonly #reported = new Set<string>();
  readonly #toSend = new Set<string>();
  readonly #problems: Decision[] = [];
  #beats = 0;
  #nextBeatMs = 0;
  #woken = false;
  #wake: () => void = () => {};

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    this.#observed = new Observed(deps.epoch);
    this.#committer = new Committer(deps.executor, deps.logger);
    this.#launches = new Launches(deps.follower.cluster, deps.executor, deps.settings.tokenKey);
  }

  /** Something may have changed. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  reportArrived(report: Plain<Report>): void {
    if (!this.#observed.record(report, this.#deps.clock.monotonicMs())) return;
    this.#deps.telemetry.reportHeard();
    this.#reported.add(report.agent);
    this.wake();
  }

  probeArrived(body: string): void {
    if (body === this.#probeText()) this.#hearing.heard(this.#deps.clock.monotonicMs());
  }

  linkChanged(connected: boolean): void {
    if (connected) this.wake();
    else this.#hearing.linkLost();
  }

  /** Runs until the signal aborts. A fault of the world is waited out; a lost lease or a bug ends the term. */
  async run(signal: AbortSignal): Promise<void> {
    let waitMs: number = runtimeLimits.retryFirstMs;
    while (!signal.aborted) {
      this.#woken = false;
      try {
        await this.#turn();
        waitMs = runtimeLimits.retryFirstMs;
      } catch (error) {
        if (error instanceof LeaseLost || !isFault(error) || error.retry === "never") throw error;
        this.#deps.logger.warn({ err: error, waitMs }, "turn_retried");
        await pause(this.#deps.clock, waitMs, signal);
        waitMs = Math.min(waitMs * 2, runtimeLimits.retryLastMs);
        continue;
      }
      await this.#wait(signal);
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#woken) return;
    const { clock, follower } = this.#deps;
    const dueMs = nextDueMs(follower.cluster);
    const untilBeatMs = this.#nextBeatMs - clock.monotonicMs();
    const untilDueMs = dueMs === null ? untilBeatMs : dueMs - clock.nowMs();
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
    await this.#decideAll(beat);
    if (beat) this.#beat();
    await this.#sendWanted();
    await follower.saveWhenDue(clock.monotonicMs());
  }

  async #decideAll(beat: boolean): Promise<void> {
    const { follower, clock, settings, logger } = this.#deps;
    const { cluster } = follower;
    for (let round = 0; round < limits.roundsPerTurnMax; round += 1) {
      await this.#committer.flush();
      await follower.catchUp();
      const nowMs = clock.nowMs();
      const decisions = [
        ...this.#problems.splice(0),
        ...gather({
          cluster,
          observed: this.#observed,
          reported: this.#reported,
          tokenKey: settings.tokenKey.id,
          nowMs,
          silentForMs: (agent) =>
            this.#hearing.silentForMs(this.#observed.agent(agent)?.heardMs, clock.monotonicMs()),
          agentSilenceMs: settings.agentSilenceMs,
        }),
        ...(beat && round === 0 ? explanations(cluster, nowMs) : []),
      ];
      for (const agent of cluster.touchedAgents) this.#toSend.add(agent);
      cluster.touchedAgents.clear();
      if (decisions.length === 0) return;
      this.#deps.telemetry.decided(decisions);
      this.#committer.add(decisions);
    }
    logger.error({ rounds: limits.roundsPerTurnMax }, "turn_without_end");
  }

  #probeText(): string {
    return `${this.#deps.epoch} ${this.#deps.settings.owner}`;
  }

  #beat(): void {
    const { bus, clock, follower, telemetry } = this.#deps;
    const { agents, pools } = follower.cluster;
    this.#nextBeatMs = clock.monotonicMs() + limits.beatMs;
    this.#beats += 1;
    bus.publish(probeSubject("scheduler"), utf8.encode(this.#probeText()));
    for (const { id, status } of agents.values()) if (status === "present") this.#toSend.add(id);
    telemetry.beat(pools, agents);
  }

  async #sendWanted(): Promise<void> {
    const { bus, follower } = this.#deps;
    const codec = codecOf<Plain<Wanted>>(WantedSchema);
    for (const agent of this.#toSend) {
      const plan = planWanted(follower.cluster, this.#observed, agent);
      const launches = await this.#launches.of(agent, plan.launch, (id, problem) =>
        this.#cannotLaunch(id, problem),
      );
      const wanted = wantedOf(plan, launches, this.#observed, this.#beats);
      this.#toSend.delete(agent);
      bus.publish(agentDoSubject(agent), utf8.encode(codec.encode(wanted)));
    }
    if (this.#problems.length > 0) this.wake();
  }

  /** Whatever the streams of a run lack, they will lack at the next try too: the allocation ends. */
  #cannotLaunch(id: string, problem: string): void {
    const origin = this.#deps.follower.cluster.allocations.get(id)?.origin ?? null;
    this.#deps.logger.error({ allocation: id, problem }, "launch_impossible");
    const cause = AllocationEndCause.LAUNCH_FAILED;
    const command = { kind: "end", cause, exits: [], endRecord: null, message: problem } as const;
    this.#problems.push({ on: "allocation", id, origin, command });
  }
}
