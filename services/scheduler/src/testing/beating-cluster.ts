/**
 * A cluster at rest, without log and bus, for the cost of a beat: each agent has one run on all of its slots, and each
 * beat does the work of the reconciler's turn: it takes a report of each agent, finds nothing to decide, and writes
 * each agent's list.
 */
import { type AnyEvent, codecOf, type Plain } from "@trainyard/contracts";
import {
  AllocationReportState,
  type Report,
  ReportSchema,
  spokenProtocol,
  type Wanted,
  WantedSchema,
} from "@trainyard/contracts/agent";
import { assert } from "@trainyard/kernel";
import { Cluster } from "../core/cluster/cluster.ts";
import { Deadlines } from "../core/reconcile/deadlines.ts";
import { gather } from "../core/reconcile/gather.ts";
import { heldOf } from "../core/reconcile/judge-agent.ts";
import { Observed } from "../core/reconcile/observed.ts";
import { agentStart } from "./examples.ts";
import { addresseeOf, planWanted, refusalsOf, wantedOf } from "../core/reconcile/wanted.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const reports = codecOf<Plain<Report>>(ReportSchema);
const wanteds = codecOf<Plain<Wanted>>(WantedSchema);
const utf8 = { encode: new TextEncoder(), decode: new TextDecoder() };
const epoch = 1;

export class BeatingCluster {
  readonly cluster = new Cluster();
  readonly #observed = new Observed(epoch);
  readonly #deadlines = new Deadlines();
  readonly #versions = new Map<string, number>();
  readonly #slots: readonly string[];
  #beats = 0;

  constructor(agents: number, slotsPerAgent: number) {
    this.#slots = Array.from({ length: slotsPerAgent }, (_, n) => String(n));
    this.#apply("default", { type: "PoolConfigured", data: { policy: "priority" } });
    for (let n = 0; n < agents; n += 1) this.#add(`a${n}`, `1.${n + 1}`);
  }

  /** The agents' reports of the next beat. */
  nextReports(): readonly Uint8Array[] {
    return [...this.cluster.agents.keys()].map((agent) => this.#reportOf(agent));
  }

  /** The bytes of all lists. */
  beat(bodies: readonly Uint8Array[]): number {
    this.#beats += 1;
    const nowMs = this.#beats * 1_000;
    const { cluster } = this;
    const reported = new Set<string>();
    for (const body of bodies) {
      const report = reports.decode(utf8.decode.decode(body));
      const isNew = this.#observed.hear(report, heldOf(cluster.agents.get(report.agent)), nowMs);
      assert(isNew, `the report of ${report.agent} is heard`);
      reported.add(report.agent);
    }
    const decisions = gather({
      cluster,
      observed: this.#observed,
      reported,
      tokenKey: "k",
      deadlines: this.#deadlines,
      nowMs,
      silentForMs: () => 0,
      agentSilenceMs: 30_000,
      firstWordMs: 0,
      massSilenceWaitMs: 0,
      forgetLostMs: 0,
      refusedSilentForMs: () => 0,
      leaseEpoch: epoch,
      isSetAside: () => false,
    });
    assert(decisions.length === 0, `nothing follows: ${JSON.stringify(decisions[0])}`);
    cluster.touchedAgents.clear();
    let bytes = 0;
    for (const agent of cluster.agents.keys()) {
      assert(refusalsOf(cluster, this.#observed, agent).length === 0, "no name is refused");
      bytes += this.#writeList(agent);
    }
    return bytes;
  }

  #writeList(agent: string): number {
    const incarnation = addresseeOf(this.cluster, this.#observed, agent);
    assert(incarnation !== undefined, `${agent} gets its list`);
    const plan = planWanted(this.cluster, this.#observed, agent);
    assert(plan.run.length === 1 && plan.launch.length === 0, `${agent} has its run`);
    const wanted = wantedOf(plan, new Map(), this.#observed, this.#beats, incarnation);
    this.#versions.set(agent, wanted.version);
    const requested = (allocation: string) => ({ allocation, requestId: "e" });
    const allocations = wanted.allocations.map((one) => ({ ...one, requestId: "e" }));
    const forget = wanted.forget.map(requested);
    const sent = { ...wanted, allocations, forget, ...spokenProtocol };
    return utf8.encode.encode(wanteds.encode(sent)).length;
  }

  #reportOf(agent: string): Uint8Array {
    const allocations = [...this.cluster.placedOn(agent)].map((allocation) => ({
      allocation,
      requestId: "e",
      state: AllocationReportState.RUNNING,
      nodeRank: 0,
      slots: this.#slots,
      pid: 100,
      launchFailed: false,
      killed: false,
    }));
    const report: Plain<Report> = {
      agent,
      incarnation: "1",
      sequence: this.#beats + 1,
      epoch,
      version: this.#versions.get(agent) ?? 0,
      probe: 0,
      pool: "default",
      slots: this.#offered(),
      labels: {},
      agentVersion: "1",
      address: "host",
      ...agentStart,
      highestEpoch: epoch,
      diskFreeBytes: 1e12,
      notices: [],
      allocations,
    };
    return utf8.encode.encode(reports.encode(report));
  }

  #offered() {
    return this.#slots.map((id) => ({ id, device: "cuda", uuid: `GPU-${id}`, memoryBytes: 80e9 }));
  }

  #add(agent: string, trial: string): void {
    const offer = { pool: "default", slots: this.#offered(), labels: {}, version: "1" };
    const placements = [{ agent, slots: this.#slots, nodeRank: 0, address: "host" }];
    const rendezvous = { masterAddress: "host", masterPort: 20_000, tokenKey: "k" };
    const slots = this.#slots.length;
    const resources = { pool: "default", slots, priority: 42, weight: 1, singleAgent: true };
    const owned = { workspace: "", owner: "" };
    const rest = { job: "1", resources, preemptible: true, delayMs: 0, ...owned };
    this.#apply(agent, { type: "AgentJoined", data: { ...offer, address: "host", ...agentStart } });
    const id = `${trial}#1`;
    this.#apply(id, { type: "AllocationQueued", data: { task: trial, run: 1, ...rest } });
    this.#apply(id, { type: "AllocationGranted", data: { placements, ...rendezvous, folded: 0 } });
    const starts = [{ agent, nodeRank: 0, pid: 100 }];
    this.#apply(id, { type: "AllocationStarted", data: { starts } });
  }

  #apply(id: string, event: AnyEvent): void {
    this.cluster.position += 1;
    this.cluster.apply({
      position: this.cluster.position,
      timeMs: 1_000,
      eventId: "e",
      origin,
      id,
      event,
    });
  }
}
