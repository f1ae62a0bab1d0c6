/**
 * The fold that scheduling depends on: agents, pools, and the allocations that have not ended. Driven only by the
 * events of allocation-*, agent-* and pool-* in log order, so that two terms at one position agree.
 *
 * Invariants: an allocation with a grant holds its slots in its pool until AllocationEnded. From then on only its slots
 * on lost agents stay held, as those agents' ghosts, until SlotsCleared or an AgentReturned that does not name it. The
 * fold is mutable and keeps sets of changes, because it is as large as the cluster.
 */
import { isTimed } from "./time-limit.ts";
import type { EventData } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { runId } from "@trainyard/kernel";
import { type Demand, Pool } from "@trainyard/scheduling";
import { rejoined } from "../agent/decide.ts";
import { agentChange, joinedAgent } from "./agent-changes.ts";
import { ghostsOf, grantedAllocation, queuedAllocation } from "./allocation-changes.ts";
import { blockOf } from "./block.ts";
import { demandOf } from "./demand.ts";
import { heldSince } from "./held-since.ts";
import { changeOf } from "./jobs.ts";
import { judge } from "./judged.ts";
import { Members } from "./members.ts";
import { Preemptions } from "./preemptions.ts";
import { changeJob, configurePool, endJob, removePool } from "./pool-changes.ts";
import { forgetRemoved, removeAgent } from "./removal.ts";
import { ghostHolder, isDraining, isLeft, levelSlots, levelStuck, slotsOn } from "./slots.ts";
import type { Agent, Allocation, RecordedEvent } from "./state.ts";
import { isLeaving, stopsAfter } from "./stops.ts";
import { afterStart } from "./trust.ts";
import { Trusts } from "./trusts.ts";

export class Cluster {
  readonly agents = new Map<string, Agent>();
  readonly allocations = new Map<string, Allocation>();
  readonly pools = new Map<string, Pool>();
  /** The existing pools, with their latest configuration. */
  readonly configured = new Map<string, EventData<"PoolConfigured">>();
  readonly members = new Members();
  readonly preemptions = new Preemptions();
  /** The granted allocations that are placed on an agent. */
  readonly #placed = new Map<string, Set<string>>();
  /** Allocations that are queued, but not to be placed yet. */
  readonly delayed = new Set<string>();
  /** Allocations that were asked to stop, with a time at which they are killed. */
  readonly stopping = new Set<string>();
  /** Silent agents that the scheduler waits for. */
  readonly awaited = new Set<string>();
  readonly trusts = new Trusts();
  /** Agents whose runs have to end, because users drain them or slots of them. */
  readonly draining = new Set<string>();
  /** Allocations that are granted and not started yet. */
  readonly launching = new Set<string>();
  /** Started allocations with a time limit. */
  readonly timed = new Set<string>();
  position = 0;
  /** The time of the newest event, by the database's clock. */
  timeMs = 0;
  /** The offset of the epochs sent to agents above the lease's. */
  epochOffset = 0;
  /** Pools that changed since the users of the fold last took this set. */
  readonly touchedPools = new Set<string>();
  /** Pools in which the reasons of waits may have changed since they were last recorded. */
  readonly unexplained = new Set<string>();
  readonly touchedAllocations = new Set<string>();
  readonly touchedAgents = new Set<string>();
  /** Granted allocations that ended since this was last taken, with the agents on which they were placed. */
  ended: { readonly id: string; readonly agents: readonly string[] }[] = [];

  placedOn(agent: string): ReadonlySet<string> {
    return this.#placed.get(agent) ?? none;
  }

  pool(name: string): Pool {
    const pool = this.pools.get(name) ?? new Pool();
    this.pools.set(name, pool);
    return pool;
  }

  /** Admits delayed allocations to their queues, and lets cooling agents get work, once they are due. */
  admit(isDue: (allocation: string) => boolean, mayBeTried: (agent: string) => boolean): void {
    for (const id of this.trusts.cooling) {
      const agent = this.agents.get(id);
      if (agent === undefined || !mayBeTried(id)) continue;
      this.trusts.cooling.delete(id);
      this.setAgent(agent);
    }
    for (const id of this.delayed) {
      const allocation = this.allocations.get(id);
      if (allocation !== undefined && !isDue(id)) continue;
      this.delayed.delete(id);
      if (allocation !== undefined) this.#enqueue(allocation);
    }
  }

  /** An event of another service changes nothing else. */
  passed({ position, timeMs }: { readonly position: number; readonly timeMs: number }): void {
    this.position = position;
    this.timeMs = Math.max(this.timeMs, timeMs);
  }

  apply(noted: RecordedEvent): void {
    this.passed(noted);
    const { event, id } = noted;
    switch (event.type) {
      case "AllocationQueued":
        return this.#queued(noted, event.data);
      case "WaitExplained":
        return this.#change(id, () => ({
          wait: { code: event.data.code, limit: event.data.limit ?? null, atMs: noted.timeMs },
        }));
      case "AllocationGranted":
        return this.#granted(noted, event.data);
      case "AllocationStarted":
        this.launching.delete(id);
        for (const { agent } of event.data.starts) {
          this.#changeAgent(agent, ({ trust }) => ({ trust: afterStart(trust) }));
        }
        this.#change(id, () => ({ started: true, startedAtMs: noted.timeMs }));
        if (isTimed(this.allocations.get(id))) this.timed.add(id);
        return this.#poolOfRun(id)?.started(id, noted.timeMs);
      case "AllocationStopRequested":
      case "AllocationStopWithdrawn":
      case "AllocationStopAcknowledged":
        return this.#stopChanged(noted);
      case "AllocationEnded":
        return this.#ended(noted);
      case "PoolConfigured":
        return configurePool(this, id, event.data);
      case "PoolRemoved":
        return removePool(this, id);
      case "JobUpdated":
      case "JobMoved":
        return changeJob(this, { pool: id, job: event.data.job, change: changeOf(event) });
      case "TrialCheckpointed":
        return this.#checkpointed(runId(id, event.data.run));
      case "ExperimentEnded":
      case "ExperimentDeleted":
        return endJob(this, id, event.type === "ExperimentDeleted");
      case "TaskEnded":
        return endJob(this, id, true);
      default:
        return this.#agentEvent(noted);
    }
  }

  #agentEvent({ event, id, position, timeMs }: RecordedEvent): void {
    switch (event.type) {
      case "AgentJoined": {
        const before = this.agents.get(id);
        const { pool } = event.data;
        if (before !== undefined && before.joined.pool !== pool) {
          this.pool(before.joined.pool).agents.forget(id);
          this.touchedPools.add(before.joined.pool);
        }
        return this.setAgent(joinedAgent(id, before, event.data, position));
      }
      case "AgentsSilent":
      case "AgentsHeard":
        for (const one of event.data.agents) {
          this.#changeAgent(one, (agent) => agentChange(agent, event, timeMs));
        }
        return;
      case "AgentReturned":
        return this.#returned(id, event.data, position);
      case "SchedulerEpochRaised": {
        const { to, leaseEpoch } = event.data;
        this.epochOffset = Math.max(this.epochOffset, to - leaseEpoch);
        return;
      }
      case "SlotsCleared":
        return this.#clear(id, event.data.allocation);
      case "AgentRemoved":
        return removeAgent(this, id);
      default:
        if (event.type === "AgentDistrusted") this.trusts.cooling.add(id);
        return this.#changeAgent(id, (agent) => agentChange(agent, event, timeMs));
    }
  }

  #granted(noted: RecordedEvent, granted: EventData<"AllocationGranted">): void {
    this.#change(noted.id, () => grantedAllocation(noted, granted));
    this.hold(noted.id);
    const { allocation = "", reserved = [] } = granted.passed ?? {};
    if (reserved.length > 0)
      this.#poolOfRun(noted.id)?.record({ id: allocation, shares: reserved });
  }

  #queued(noted: RecordedEvent, queued: EventData<"AllocationQueued">): void {
    const allocation = queuedAllocation(noted, queued, this.preemptions);
    if (allocation !== null) this.setAllocation(allocation);
  }

  /** Puts an allocation into its queue, or onto the slots that it was granted. */
  setAllocation(allocation: Allocation): void {
    this.allocations.set(allocation.id, allocation);
    this.pool(allocation.resources.pool).noteArrival(allocation.job, allocation.arrival);
    if (allocation.grant !== null) this.hold(allocation.id);
    else if (allocation.notBeforeMs > allocation.queuedAtMs) this.delayed.add(allocation.id);
    else this.#enqueue(allocation);
    if (allocation.stop?.killAtMs != null) this.stopping.add(allocation.id);
  }

  #enqueue(allocation: Allocation): void {
    const { pool } = allocation.resources;
    this.pool(pool).queue.add(demandOf(allocation));
    this.touchedPools.add(pool);
  }

  /** The demand of an allocation, with the place of its experiment and the changes of people. */
  demand(allocation: Allocation): Demand {
    return this.pool(allocation.resources.pool).demandOf(demandOf(allocation));
  }

  hold(id: string): void {
    const allocation = this.allocations.get(id);
    if (allocation?.grant == null) return;
    const { startedAtMs, checkpointed, grant, resources } = allocation;
    const { pool } = resources;
    const { position: turn, atMs, lender } = grant;
    const start = { turn, atMs, startedAtMs, checkpointed, lender };
    this.pool(pool).queue.remove(id);
    this.pool(pool).start(demandOf(allocation), start);
    if (isLeaving(allocation)) this.pool(pool).stopping(id);
    this.delayed.delete(id);
    if (!allocation.started) this.launching.add(id);
    if (isTimed(allocation)) this.timed.add(id);
    for (const { agent, slots } of grant.placements) {
      this.#poolOf(agent, pool).agents.hold(agent, id, slots);
      const placed = this.#placed.get(agent) ?? new Set<string>();
      this.#placed.set(agent, placed.add(id));
      this.touchedAgents.add(agent);
    }
    this.#noteStuck(id);
    this.touchedPools.add(pool);
    this.touchedAllocations.add(id);
  }

  /** A run with unkillable processes on some agent does not end soon, whatever stop it gets. */
  #noteStuck(id: string): void {
    const placements = this.allocations.get(id)?.grant?.placements ?? [];
    const agents = placements.flatMap(({ agent }) => this.agents.get(agent) ?? []);
    const stuckOn = agents.filter((agent) => isLeft(agent, id));
    for (const agent of stuckOn) levelStuck(this.pool(agent.joined.pool).agents, agent);
    this.#poolOfRun(id)?.setStuck(id, stuckOn.length > 0);
  }

  #poolOf(agent: string, otherwise: string): Pool {
    return this.pool(this.agents.get(agent)?.joined.pool ?? otherwise);
  }

  #poolOfRun(id: string): Pool | undefined {
    const allocation = this.allocations.get(id);
    return allocation?.grant == null ? undefined : this.pool(allocation.resources.pool);
  }

  /** A run that has made a checkpoint may make room. */
  #checkpointed(id: string): void {
    if (this.allocations.get(id)?.checkpointed !== false) return;
    this.#change(id, () => ({ checkpointed: true }));
    const pool = this.#poolOfRun(id);
    pool?.placed.change(id, () => ({ checkpointed: true }));
    this.touchedPools.add(this.allocations.get(id)?.resources.pool ?? "");
  }

  #stopChanged({ id, event, timeMs }: RecordedEvent): void {
    this.#change(id, (one) => stopsAfter(one, event, timeMs));
    const allocation = this.allocations.get(id);
    if (allocation === undefined) return;
    this.#poolOfRun(id)?.stopping(id, isLeaving(allocation));
    if (event.type === "AllocationStopWithdrawn") this.touchedPools.add(allocation.resources.pool);
    if (allocation.stop?.killAtMs == null) this.stopping.delete(id);
    else this.stopping.add(id);
  }

  #ended({ id, event, timeMs }: RecordedEvent): void {
    const allocation = this.allocations.get(id);
    if (allocation === undefined || event.type !== "AllocationEnded") return;
    const { cause, launchFailure } = event.data;
    const judged = judge(this, allocation, event.data, { recent: this.trusts.recent, timeMs });
    const { pool } = allocation.resources;
    this.pool(pool).queue.remove(id);
    this.pool(pool).end(id);
    this.preemptions.noteEnd(allocation);
    this.delayed.delete(id);
    this.stopping.delete(id);
    this.launching.delete(id);
    this.timed.delete(id);
    this.allocations.delete(id);
    const placements = cause === AllocationEndCause.WITHDRAWN ? [] : allocation.grant?.placements;
    for (const { agent, slots } of placements ?? []) {
      const here = this.#placed.get(agent);
      here?.delete(id);
      if (here?.size === 0) this.#placed.delete(agent);
      this.touchedAgents.add(agent);
      this.#forgetLeft(agent, id);
      // An agent that is silent about a launch may yet start it: the launch keeps its slots, as on a lost agent.
      const isSilent = launchFailure?.silent.includes(agent) === true;
      const status = this.agents.get(agent)?.status;
      if (status === "lost" || (status === "present" && isSilent)) {
        this.#changeAgent(agent, ({ ghosts }) => ({ ghosts: { ...ghosts, [id]: slots } }));
      }
      this.#poolOf(agent, pool).agents.release(agent, id);
      forgetRemoved(this, agent);
    }
    this.touchedPools.add(pool);
    this.touchedAllocations.delete(id);
    this.trusts.recent = judged.recent;
    this.trusts.noteDidWell(allocation.job, judged.didWellOn);
    for (const [agent, trust] of judged.trusts) this.#changeAgent(agent, () => ({ trust }));
    this.ended.push({ id, agents: (allocation.grant?.placements ?? []).map(({ agent }) => agent) });
  }

  #returned(id: string, data: EventData<"AgentReturned">, position: number): void {
    const agent = this.agents.get(id);
    if (agent === undefined) return;
    const pool = this.pool(agent.joined.pool);
    for (const ghost of Object.keys(agent.ghosts)) pool.agents.release(id, ghostHolder(ghost));
    const ghosts = ghostsOf(data, (run) => slotsOn(this.allocations.get(run), id));
    this.setAgent({
      ...agent,
      joined: rejoined(agent.joined, data),
      status: "present",
      lostAtMs: null,
      ghosts,
      heldSince: heldSince(agent, data, position),
      refused: null,
    });
  }

  #forgetLeft(id: string, allocation: string): void {
    if (this.agents.get(id)?.left[allocation] === undefined) return;
    this.#changeAgent(id, ({ left: { [allocation]: _gone, ...left } }) => ({ left }));
  }

  #clear(id: string, allocation: string): void {
    this.#forgetLeft(id, allocation);
    const agent = this.agents.get(id);
    if (agent?.ghosts[allocation] === undefined) return;
    const { [allocation]: _cleared, ...ghosts } = agent.ghosts;
    this.pool(agent.joined.pool).agents.release(id, ghostHolder(allocation));
    this.#changeAgent(id, () => ({ ghosts }));
  }

  #change(id: string, change: (allocation: Allocation) => Partial<Allocation>): void {
    const allocation = this.allocations.get(id);
    if (allocation === undefined) return;
    this.allocations.set(id, { ...allocation, ...change(allocation) });
    this.touchedAllocations.add(id);
    for (const { agent } of allocation.grant?.placements ?? []) this.touchedAgents.add(agent);
  }

  #changeAgent(id: string, change: (agent: Agent) => Partial<Agent>): void {
    const agent = this.agents.get(id);
    if (agent !== undefined) this.setAgent({ ...agent, ...change(agent) });
  }

  /** Updates the pool's view of an agent. */
  setAgent(agent: Agent): void {
    const before = this.agents.get(agent.id);
    this.agents.set(agent.id, agent);
    this.trusts.note(agent, before === undefined);
    const { id, joined, status } = agent;
    this.members.note(agent, before);
    if (agent.awaited === null) this.awaited.delete(id);
    else this.awaited.add(id);
    if (isDraining(agent)) this.draining.add(agent.id);
    else this.draining.delete(agent.id);
    const { agents } = this.pool(joined.pool);
    agents.join(id, joined, status === "present");
    if (status === "removed") agents.remove(id);
    this.touchedPools.add(joined.pool);
    agents.setBlock(id, blockOf(agent, this.trusts.cooling.has(id)));
    levelSlots(agents, agent, before?.slotsOut ?? {});
    for (const allocation of this.placedOn(id)) {
      if (before?.status !== status) this.touchedAllocations.add(allocation);
      this.#noteStuck(allocation);
      for (const placement of this.allocations.get(allocation)?.grant?.placements ?? []) {
        if (placement.agent === id) agents.hold(id, allocation, placement.slots);
      }
    }
    levelStuck(agents, agent);
    this.touchedAgents.add(id);
  }
}

const none: ReadonlySet<string> = new Set();
