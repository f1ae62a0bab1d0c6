/**
 * The runs in the messages of agents (agent.proto, "Requests"). A run that this log has requested is known by its
 * allocation's id. A run of a lost history is known by a key with its request, so that all that follows from it (its
 * slots, its kill, the processes that it left) is apart from the run that has its id now.
 *
 * The log decides which history a request belongs to: the fold has the requests of allocations that have not ended, and
 * the others are read from their streams when an agent names them.
 */
import type { Plain } from "@trainyard/contracts";
import {
  type Report,
  type RequestedRun,
  runKeyOf,
  runOfKey,
  spokenProtocol,
  type Wanted,
} from "@trainyard/contracts/agent";
import { isAllocationId } from "@trainyard/kernel";
import type { Cluster } from "../core/cluster/cluster.ts";
import type { KeyedWanted } from "../core/reconcile/wanted.ts";

type Requests = ReadonlyMap<string, string>;

export class ReportedRuns {
  readonly #cluster: Cluster;
  /** Reads the request of an allocation, ended or not; null if the log does not have the allocation. */
  readonly #read: (allocation: string) => Promise<string | null>;
  /** The requests of the allocations of this log that each agent named in its last report. */
  readonly #named = new Map<string, Requests>();
  /** The keys of the runs of lost histories that each agent named in its last report: they need no further read. */
  readonly #foreign = new Map<string, ReadonlySet<string>>();
  /** The last report of each start of an agent that has to be read with the log. */
  readonly #unread = new Map<string, Plain<Report>>();

  constructor(cluster: Cluster, read: (allocation: string) => Promise<string | null>) {
    this.#cluster = cluster;
    this.#read = read;
  }

  /** Returns the report with the keys of its runs; null if it can be read only with the log, by `readOpen`. */
  keyed(report: Plain<Report>): Plain<Report> | null {
    const { agent, incarnation } = report;
    const isOpen = (run: RequestedRun): boolean =>
      this.#requestOf(agent, run.allocation) === undefined &&
      this.#foreign.get(agent)?.has(runKeyOf(run)) !== true;
    if (!report.allocations.some(isOpen)) return this.#key(report, new Map());
    this.#unread.set(`${agent} ${incarnation}`, report);
    return null;
  }

  /** Reads the log for the reports that need it, and passes each on with the keys of its runs. */
  async readOpen(hear: (report: Plain<Report>) => void): Promise<void> {
    for (const [start, report] of this.#unread) {
      const found = new Map<string, string>();
      const look = async ({ allocation }: RequestedRun): Promise<void> => {
        const isOpen = this.#requestOf(report.agent, allocation) === undefined;
        const request = isOpen && isAllocationId(allocation) ? await this.#read(allocation) : null;
        if (request !== null) found.set(allocation, request);
      };
      await Promise.all(report.allocations.map(look));
      // A later report may have arrived meanwhile.
      if (this.#unread.get(start) === report) this.#unread.delete(start);
      hear(this.#key(report, found));
    }
  }

  #requestOf(agent: string, allocation: string): string | undefined {
    const open = this.#cluster.allocations.get(allocation)?.request;
    return open ?? this.#named.get(agent)?.get(allocation);
  }

  #key(report: Plain<Report>, found: Requests): Plain<Report> {
    const { agent } = report;
    const named = new Map<string, string>();
    const foreign = new Set<string>();
    const allocations = report.allocations.map((one) => {
      const request = this.#requestOf(agent, one.allocation) ?? found.get(one.allocation);
      if (request !== undefined) named.set(one.allocation, request);
      if (one.requestId === request) return one;
      const allocation = runKeyOf(one);
      foreign.add(allocation);
      return { ...one, allocation };
    });
    this.#named.set(agent, named);
    this.#foreign.set(agent, foreign);
    return { ...report, allocations };
  }

  /** Returns the list as the agent reads it: with ids and requests instead of keys. */
  addressed(agent: string, { allocations, forget, ...rest }: KeyedWanted): Plain<Wanted> {
    const requested = (key: string): RequestedRun => {
      const { allocation, requestId } = runOfKey(key);
      return { allocation, requestId: requestId || (this.#requestOf(agent, allocation) ?? "") };
    };
    return {
      ...rest,
      ...spokenProtocol,
      allocations: allocations.map((one) => ({ ...one, ...requested(one.allocation) })),
      forget: forget.map(requested),
    };
  }
}
