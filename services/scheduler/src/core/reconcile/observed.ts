/**
 * What agents have said in this term. Memory only: reports are level-triggered, so after a restart the next ones say it
 * again. A report counts as newer within one start of the agent by its sequence; what a former start still says is old.
 */
import type { Plain } from "@trainyard/contracts";
import type { AllocationReport, Report } from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";

export type ReportedAllocation = Plain<AllocationReport>;

export type ObservedAgent = {
  readonly report: Plain<Report>;
  readonly allocations: ReadonlyMap<string, ReportedAllocation>;
  /** On the monotonic clock. */
  readonly heardMs: number;
};

/** What was asked of an agent in this term. */
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

export class Observed {
  readonly epoch: number;
  readonly #agents = new Map<string, ObservedAgent>();
  readonly #asked = new Map<string, Asked>();
  readonly #retired = new Map<string, Set<string>>();
  /** Allocations that an agent has named in this term: they are not launched there again. */
  readonly #named = new Map<string, Set<string>>();
  readonly #launches = new Map<string, LaunchWatch>();

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  /** False for a report that is older than what is known. */
  record(report: Plain<Report>, nowMs: number): boolean {
    const id = report.agent;
    const before = this.#agents.get(id);
    if (before?.report.incarnation === report.incarnation) {
      if (report.sequence <= before.report.sequence) return false;
    } else if (before !== undefined) {
      // Of two quick starts the first one's report may come last, and the living one is retired by it: whoever goes on
      // speaking while the other is silent is the living one.
      const retired = this.#retired.get(id)?.has(report.incarnation) === true;
      if (retired && nowMs - before.heardMs < limits.incarnationSilenceMs) return false;
      this.#retire(id, before.report.incarnation);
    }
    const allocations = new Map(report.allocations.map((one) => [one.allocation, one]));
    this.#agents.set(id, { report, allocations, heardMs: nowMs });
    const named = this.#named.get(id) ?? new Set<string>();
    this.#named.set(id, named);
    for (const allocation of allocations.keys()) named.add(allocation);
    return true;
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

  /** An allocation that is over: whatever becomes of its process is another matter, and asked anew. */
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
