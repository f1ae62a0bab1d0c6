/**
 * The reports of agents in this term. Memory only: reports are level-triggered, so after a restart the next ones say it
 * again. A report counts as newer within one start of the agent by its sequence; what a former start still says is old.
 * Those who ask for a name that another holds are kept apart: nothing follows from what they say that they run.
 */
import type { Plain } from "@trainyard/contracts";
import type { AllocationReport, Report } from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";
import { type Holder, isSameHolder, type Standing, standingOf } from "../agent/holder.ts";

export type ReportedAllocation = Plain<AllocationReport>;

export type ObservedAgent = {
  readonly report: Plain<Report>;
  readonly allocations: ReadonlyMap<string, ReportedAllocation>;
  /** On the monotonic clock. */
  readonly heardMs: number;
};

/** The requests to an agent in this term. */
export type Asked = {
  version: number;
  /** The content of the last list, so that only a change raises the version. */
  content: string;
  /**
   * The version from which on the agent must know an allocation: it came with its launch, or to be killed, or had
   * started before. A report that echoes it and does not name the allocation says that nothing of it is there.
   */
  readonly knownSince: Map<string, number>;
};

/** How long a launch has shown no progress, counted while its agent is heard. */
type LaunchWatch = { shown: string; silentMs: number; lookedMs: number };
/** A start of an agent that does not hold the name under which it speaks. */
export type Refused = {
  readonly report: Plain<Report>;
  readonly standing: Standing;
  readonly heardMs: number;
};

export class Observed {
  #epoch: number;
  readonly #beganMs: number;
  /** The highest epoch that an agent says it has seen. */
  readonly #claims = new Map<string, number>();
  readonly #refused = new Map<string, Map<string, Refused>>();
  readonly #refusedMs = new Map<string, number>();
  readonly #agents = new Map<string, ObservedAgent>();
  readonly #asked = new Map<string, Asked>();
  readonly #retired = new Map<string, Set<string>>();
  /** Allocations that an agent has named in this term: they are not launched there again. */
  readonly #named = new Map<string, Set<string>>();
  readonly #launches = new Map<string, LaunchWatch>();

  constructor(epoch: number, beganMs = 0) {
    this.#epoch = epoch;
    this.#beganMs = beganMs;
  }

  /** Returns the epoch of this term's lists. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Lists that agents have processed under the former one count no more: the next lists ask for all of it again. */
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

  /** False for a report that changes nothing. `held` is whose the name is, null for nobody's. */
  hear(report: Plain<Report>, held: Holder | null, nowMs: number): boolean {
    this.#claims.set(report.agent, claimOf(report));
    const heardMs = this.#agents.get(report.agent)?.heardMs ?? this.#beganMs;
    const isSilent = nowMs - heardMs >= limits.incarnationSilenceMs;
    const standing = standingOf(held, report, isSilent);
    if (standing === "holder" || standing === "successor") return this.record(report, nowMs);
    this.#refuse(report, standing, nowMs);
    return true;
  }

  /** An agent that was taken for the holder before another was recorded is refused like the others. */
  settle(agent: string, held: Holder | null): void {
    const seen = this.#agents.get(agent);
    if (seen === undefined) return;
    // The holder's silence was looked at when this one was heard.
    const standing = standingOf(held, seen.report, true);
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

  /** When somebody who was refused the name spoke last; undefined for never in this term. */
  refusedMs(agent: string): number | undefined {
    return this.#refusedMs.get(agent);
  }

  /** Lets go of those who have not asked for a name since then. */
  pruneRefused(sinceMs: number): void {
    for (const [agent, refused] of this.#refused) {
      for (const [incarnation, { heardMs }] of refused) {
        if (heardMs < sinceMs) refused.delete(incarnation);
      }
      if (refused.size === 0) this.#refused.delete(agent);
    }
  }

  /** False for a report that is older than what is known. */
  record(report: Plain<Report>, nowMs: number): boolean {
    const id = report.agent;
    const before = this.#agents.get(id);
    if (before?.report.incarnation === report.incarnation) {
      if (report.sequence <= before.report.sequence) return false;
    } else if (before?.report.folder !== undefined && report.folder !== undefined) {
      if (!isSameHolder(before.report, report)) this.#begin(id);
      else if ((report.startedMs ?? 0) < (before.report.startedMs ?? 0)) return false;
    } else if (before !== undefined) {
      // The first report of two quick starts may come last, and would retire the living one: the living one is the one
      // that continues to report while the other is silent.
      const retired = this.#retired.get(id)?.has(report.incarnation) === true;
      if (retired && nowMs - before.heardMs < limits.incarnationSilenceMs) return false;
      this.#retire(id, before.report.incarnation);
    }
    this.#refused.get(id)?.delete(report.incarnation);
    const allocations = new Map(report.allocations.map((one) => [one.allocation, one]));
    this.#agents.set(id, { report, allocations, heardMs: nowMs });
    const named = this.#named.get(id) ?? new Set<string>();
    this.#named.set(id, named);
    for (const allocation of allocations.keys()) named.add(allocation);
    return true;
  }

  /** Another holds the name: what the one before knew and had launched says nothing of it. */
  #begin(agent: string): void {
    this.#named.delete(agent);
    this.#asked.get(agent)?.knownSince.clear();
  }

  #retire(agent: string, incarnation: string): void {
    const retired = this.#retired.get(agent) ?? new Set<string>();
    retired.delete(incarnation);
    this.#retired.set(agent, retired.add(incarnation));
    // Messages do not stay under way for long: the last few starts are enough.
    if (retired.size > retiredMax) retired.delete([...retired][0] ?? "");
  }

  agent(id: string): ObservedAgent | undefined {
    return this.#agents.get(id);
  }

  hasNamed(agent: string, allocation: string): boolean {
    return this.#named.get(agent)?.has(allocation) === true;
  }

  asked(agent: string): Asked {
    const asked = this.#asked.get(agent) ?? { version: 0, content: "", knownSince: new Map() };
    this.#asked.set(agent, asked);
    return asked;
  }

  /** Whether the agent has processed a list of this term at this version. */
  hasProcessed(agent: string, version: number): boolean {
    const report = this.#agents.get(agent)?.report;
    return report !== undefined && report.epoch === this.epoch && report.version >= version;
  }

  /**
   * Looks at a launch that is under way: its silence grows while its agent is heard and shows nothing new of it. To be
   * called at every beat, so that time in which nobody looked does not count.
   */
  watchLaunch(agent: string, allocation: string, nowMs: number): void {
    const heardMs = this.#agents.get(agent)?.heardMs;
    const report = this.#agents.get(agent)?.allocations.get(allocation);
    const shown = `${report?.state ?? 0}/${report?.progress ?? 0}/${report?.pid ?? 0}`;
    const key = `${agent}/${allocation}`;
    const watch = this.#launches.get(key);
    if (watch === undefined || watch.shown !== shown) {
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

  /** An allocation that is over: whatever becomes of its process is another matter, and asked again. */
  drop(agent: string, allocation: string): void {
    this.#named.get(agent)?.delete(allocation);
    this.#asked.get(agent)?.knownSince.delete(allocation);
    this.#launches.delete(`${agent}/${allocation}`);
  }

  /** Lets go of what an agent no longer names and nobody asks about. */
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

const retiredMax = 8;

/** An event after a list that the agent has processed is seen; a number of no list is not. */
function claimOf({ epoch, highestEpoch = 0 }: Plain<Report>): number {
  return Math.max(0, ...[epoch, highestEpoch].filter((claim) => Number.isSafeInteger(claim)));
}

/** Whether schedulers may have come so far beyond this one's epoch. */
export function isBelievable(claim: number, epoch: number): boolean {
  return claim <= limits.epochMax && claim - epoch <= limits.epochStepMax;
}
