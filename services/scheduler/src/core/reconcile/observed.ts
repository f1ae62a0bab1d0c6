/**
 * The reports of agents in this term. They are kept in memory only: reports are level-triggered, so after a restart the
 * next ones repeat everything. Within one start of the agent, the sequence decides which report is newer; reports of
 * earlier starts are stale. Agents that ask for another's name are kept apart, and the runs in their reports are
 * ignored.
 */
import type { Plain } from "@trainyard/contracts";
import type { AllocationReport, Report } from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";
import { AwayRuns } from "./away-runs.ts";
import { type Holder, isSameHolder, type Standing, standingOf } from "../agent/holder.ts";

export type ReportedAllocation = Plain<AllocationReport>;

export type ObservedAgent = {
  readonly report: Plain<Report>;
  readonly allocations: ReadonlyMap<string, ReportedAllocation>;
  /** The time of the report on the monotonic clock. */
  readonly heardMs: number;
};

/** The requests to an agent in this term. */
export type AgentRequests = {
  version: number;
  /** The content of the last list, so that only a change raises the version. */
  content: string;
  /**
   * The version from which on the agent must know an allocation: that of its launch, of its kill, or of its known
   * start. A report that echoes this version without naming the allocation proves that no process of it exists there.
   */
  readonly knownSince: Map<string, number>;
};

/** The time for which a launch has shown no progress, counted while its agent reports. */
type LaunchWatch = { shown: string; silentMs: number; lookedMs: number };
/** A start of an agent that asks for a name that it does not hold. */
export type Refused = {
  readonly report: Plain<Report>;
  readonly standing: Standing;
  readonly heardMs: number;
};

export class Observed {
  #epoch: number;
  /** The highest epoch that each agent reports as seen. */
  readonly #claims = new Map<string, number>();
  readonly #refused = new Map<string, Map<string, Refused>>();
  readonly #refusedMs = new Map<string, number>();
  readonly #agents = new Map<string, ObservedAgent>();
  readonly #asked = new Map<string, AgentRequests>();
  /** Allocations that an agent has named in this term: they are not launched there again. */
  readonly #named = new Map<string, Set<string>>();
  readonly #launches = new Map<string, LaunchWatch>();
  readonly away = new AwayRuns();
  #beatMs = Number.NEGATIVE_INFINITY;

  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  /** Returns the epoch of this term's lists. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Lists of the former epoch that agents have processed no longer count: the next lists repeat them. */
  raiseEpoch(epoch: number): void {
    this.#epoch = epoch;
  }

  /** Returns the agent that has seen the highest epoch above that of this term; null when none has. */
  ahead(
    isOne: (agent: string) => boolean,
  ): { readonly agent: string; readonly epoch: number } | null {
    const [first] = [...this.#claims]
      .filter(([agent, epoch]) => {
        return epoch > this.#epoch && isBelievable(epoch, this.#epoch) && isOne(agent);
      })
      .toSorted(([, a], [, b]) => b - a);
    return first === undefined ? null : { agent: first[0], epoch: first[1] };
  }

  /** Returns false for a report that changes nothing. `held` is the holder of the name; null for none. */
  hear(report: Plain<Report>, held: Holder | null, nowMs: number): boolean {
    const claim = claimOf(report);
    this.#claims.set(
      report.agent,
      this.#isForeign(report) ? Math.max(claim, report.epoch + 1) : claim,
    );
    const standing = standingOf(held, report);
    if (standing === "holder" || standing === "successor") return this.record(report, nowMs);
    this.#refuse(report, standing, nowMs);
    return true;
  }

  /**
   * True if another scheduler has sent lists of this term's epoch: after a log went back, its lease counts as before.
   * The agent would ignore the first lists of this term as older ones, and its echo of a version would mean theirs.
   * An agent is sent its first list after its first report, which thus shows it.
   */
  #isForeign({ agent, epoch, version }: Plain<Report>): boolean {
    return epoch === this.#epoch && version > (this.#asked.get(agent)?.version ?? 0);
  }

  /** Refuses an agent that counted as the holder before another one was recorded. */
  settle(agent: string, held: Holder | null): void {
    const seen = this.#agents.get(agent);
    if (seen === undefined) return;
    const standing = standingOf(held, seen.report);
    if (standing === "holder" || standing === "successor") return;
    this.#agents.delete(agent);
    this.#refuse(seen.report, standing, seen.heardMs);
  }

  #refuse(report: Plain<Report>, standing: Standing, heardMs: number): void {
    const { agent, incarnation, sequence } = report;
    const refused = this.#refused.get(agent) ?? new Map<string, Refused>();
    this.#refused.set(agent, refused);
    this.#refusedMs.set(agent, heardMs);
    if (sequence <= (refused.get(incarnation)?.report.sequence ?? 0)) return;
    refused.delete(incarnation);
    refused.set(incarnation, { report, standing, heardMs });
    if (refused.size > limits.refusedStartsMax) refused.delete([...refused.keys()][0] ?? "");
  }

  refused(agent: string): readonly Refused[] {
    return [...(this.#refused.get(agent)?.values() ?? [])];
  }

  /** The time of the last report of an agent that was refused the name; undefined if none in this term. */
  refusedMs(agent: string): number | undefined {
    return this.#refusedMs.get(agent);
  }

  /** Drops refused agents that have not asked for the name since then. */
  pruneRefused(sinceMs: number): void {
    for (const [agent, refused] of this.#refused) {
      for (const [incarnation, { heardMs }] of refused) {
        if (heardMs < sinceMs) refused.delete(incarnation);
      }
      if (refused.size === 0) this.#refused.delete(agent);
    }
  }

  /** Returns false for a report that is older than the last one. */
  record(report: Plain<Report>, nowMs: number): boolean {
    const id = report.agent;
    const before = this.#agents.get(id);
    if (before?.report.incarnation === report.incarnation) {
      if (report.sequence <= before.report.sequence) return false;
    } else if (before !== undefined) {
      if (!isSameHolder(before.report, report)) this.#begin(id);
      else if (report.startedMs < before.report.startedMs) return false;
    }
    this.#refused.get(id)?.delete(report.incarnation);
    const allocations = new Map(report.allocations.map((one) => [one.allocation, one]));
    this.#agents.set(id, { report, allocations, heardMs: nowMs });
    const named = this.#named.get(id) ?? new Set<string>();
    this.#named.set(id, named);
    for (const allocation of allocations.keys()) named.add(allocation);
    return true;
  }

  /** Another agent holds the name now: the previous holder's lists and launches do not apply to it. */
  #begin(agent: string): void {
    this.#named.delete(agent);
    this.#asked.get(agent)?.knownSince.clear();
  }

  /** True once in the time of a beat: for decisions about many agents or runs together. */
  isBeat(nowMs: number): boolean {
    if (nowMs - this.#beatMs < limits.beatMs) return false;
    this.#beatMs = nowMs;
    return true;
  }

  agent(id: string): ObservedAgent | undefined {
    return this.#agents.get(id);
  }

  hasNamed(agent: string, allocation: string): boolean {
    return this.#named.get(agent)?.has(allocation) === true;
  }

  asked(agent: string): AgentRequests {
    const asked = this.#asked.get(agent) ?? { version: 0, content: "", knownSince: new Map() };
    this.#asked.set(agent, asked);
    return asked;
  }

  /** True if the agent has processed a list of this term with at least this version. */
  hasProcessed(agent: string, version: number): boolean {
    const report = this.#agents.get(agent)?.report;
    return report !== undefined && report.epoch === this.epoch && report.version >= version;
  }

  /**
   * Checks a running launch: its silence grows while its agent reports without new progress. Called at every beat, so
   * that time without checks does not count. The silence of one that was not sent begins from zero each time.
   */
  watchLaunch(agent: string, allocation: string, nowMs: number, isUnsent = false): void {
    const heardMs = this.#agents.get(agent)?.heardMs;
    const report = this.#agents.get(agent)?.allocations.get(allocation);
    const shown = `${report?.state ?? 0}/${report?.progress ?? 0}/${report?.pid ?? 0}`;
    const key = `${agent}/${allocation}`;
    const watch = this.#launches.get(key);
    if (watch === undefined || watch.shown !== shown || isUnsent) {
      this.#launches.set(key, { shown, silentMs: 0, lookedMs: nowMs });
      return;
    }
    const passedMs = nowMs - watch.lookedMs;
    watch.lookedMs = nowMs;
    const isHeard = heardMs !== undefined && nowMs - heardMs <= limits.probeGapMs;
    if (isHeard && passedMs <= limits.probeGapMs) watch.silentMs += passedMs;
  }

  isSilent(agent: string, allocation: string): boolean {
    const watch = this.#launches.get(`${agent}/${allocation}`);
    return watch !== undefined && watch.silentMs > limits.launchSilenceMs;
  }

  /** Drops an allocation that has ended; its remaining process is requested to end separately. */
  drop(agent: string, allocation: string): void {
    this.#named.get(agent)?.delete(allocation);
    this.#asked.get(agent)?.knownSince.delete(allocation);
    this.#launches.delete(`${agent}/${allocation}`);
  }

  /** Drops allocations that an agent no longer names and that are not wanted. */
  prune(isOpen: (agent: string, allocation: string) => boolean): void {
    for (const [agent, named] of this.#named) {
      const reported = this.#agents.get(agent)?.allocations;
      const known = this.#asked.get(agent)?.knownSince;
      for (const id of new Set([...named, ...(known?.keys() ?? [])])) {
        if (reported?.has(id) === true || isOpen(agent, id)) continue;
        named.delete(id);
        known?.delete(id);
      }
    }
  }
}

/** The highest epoch that an agent reports, that of its last list included; values that are no integers are ignored. */
function claimOf({ epoch, highestEpoch }: Plain<Report>): number {
  return Math.max(0, ...[epoch, highestEpoch].filter((claim) => Number.isSafeInteger(claim)));
}

/** True if schedulers can have come this far beyond the present epoch. */
export function isBelievable(claim: number, epoch: number): boolean {
  return claim <= limits.epochMax && claim - epoch <= limits.epochStepMax;
}
