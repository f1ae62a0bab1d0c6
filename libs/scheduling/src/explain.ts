/** Explains why waiting runs have no slots yet, in the words that users see. */
import type { Block, Capacity } from "./agents.ts";
import { conditionsOf } from "./constraints.ts";
import type { Demand } from "./demand.ts";
import { type DeterminedWait, determinedWaits } from "./determined/explain.ts";
import { schedulingLimits } from "./limits.ts";
import type { Limit } from "./limits-of-runs.ts";
import type { Claim, Exempt, Obstacle } from "./claim.ts";
import { PlacementPass } from "./place.ts";
import type { PlacedRun } from "./placed.ts";
import type { Pool } from "./pool.ts";
import type { Kind, Lane } from "./queue.ts";
import { agentsText, slotsText } from "./texts.ts";
import { compareRanks, Walk } from "./walk.ts";

export type WaitReason =
  | "no_agents"
  | "agents_away"
  | "not_enough_free"
  | "behind_others"
  | "reserved"
  | "quota"
  | "max_slots"
  | "fair_share"
  | "constraints"
  | "preempting"
  | Block["kind"];

type Reason = {
  readonly reason: WaitReason;
  readonly detail: string;
  /** The limit that keeps the run waiting; null if there is none. */
  readonly limit: string | null;
};

export type Wait = Reason & { readonly id: string };

export type Explanation = Reason & {
  /** The number of waiting runs ahead of the run. */
  readonly ahead: number;
  /** The first few runs that must end or start before the run starts. */
  readonly blockers: readonly string[];
  /** The condition under which the run starts, as half a sentence. */
  readonly startsWhen: string;
};

/** Explains the first waiting runs, in queue order. Runs that the next pass starts are left out. */
export function explainWaits(pool: Pool, waitsMax: number, nowMs: number): readonly Wait[] {
  if (pool.settings.compat === "determined") {
    return determinedWaits(pool)
      .slice(0, waitsMax)
      .map((wait) => ({ id: wait.demand.id, ...determinedReason(pool, wait) }));
  }
  const pass = lookAt(pool, nowMs);
  const waits: Wait[] = [];
  for (const kind of ["slotless", "slotted"] as const) {
    const lanes = pool.queue.lanes(kind).map((lane) => ({ lane, from: 0 }));
    const walk = new Walk(lanes, (demand) => pass.ranking.rankOf(demand));
    const seen = new Set<Lane>();
    for (let turn = walk.next(); turn !== null; turn = walk.next()) {
      if (waits.length >= waitsMax) return waits;
      const { demand, lane } = turn;
      turn.take();
      if (pass.isGranted(demand.id)) continue;
      const leads = !seen.has(lane);
      seen.add(lane);
      waits.push({ id: demand.id, ...reasonOf(pool, pass, { demand, lane, leads }) });
    }
  }
  return waits;
}

/** A placement pass over a pool, which explains any number of the pool's waiting runs. */
export type ExplainPass =
  | { readonly compat: ""; readonly pass: PlacementPass }
  | { readonly compat: "determined"; readonly waits: readonly DeterminedWait[] };

export function explainPass(pool: Pool, nowMs: number): ExplainPass {
  const { compat } = pool.settings;
  if (compat === "determined") return { compat, waits: determinedWaits(pool) };
  return { compat: "", pass: lookAt(pool, nowMs) };
}

/**
 * Returns null for a run that does not wait. `look` must be of the same pool and time, without changes of the pool
 * since.
 */
export function explainOne(
  pool: Pool,
  id: string,
  nowMs: number,
  look: ExplainPass = explainPass(pool, nowMs),
): Explanation | null {
  const found = pool.queue.find(id);
  if (found === undefined) return null;
  const { demand, lane } = found;
  if (look.compat === "determined") return explainDetermined(pool, demand, look.waits, nowMs);
  const { pass } = look;
  const obstacle = pass.obstacles.get(lane);
  const first = firstOf(lane, pass);
  const reason = reasonOf(pool, pass, { demand, lane, leads: first === id });
  const blockers =
    reason.reason === "behind_others"
      ? [first, leaderOf(pass, lane.kind)].flatMap((one) => (one === id ? [] : (one ?? [])))
      : blockersOf(obstacle, pass, demand);
  return {
    ...reason,
    ahead: aheadOf(pool, demand, lane.kind, pass),
    blockers: [...new Set(blockers)].slice(0, schedulingLimits.blockersNamedMax),
    startsWhen: startsWhen(demand, reason.reason, obstacle, nowMs),
  };
}

/** Explains a run under Determined's rules; a run that the next pass starts has no other reason to wait. */
function explainDetermined(
  pool: Pool,
  demand: Demand,
  waits: readonly DeterminedWait[],
  nowMs: number,
): Explanation {
  const wait = waits.find((one) => one.demand.id === demand.id);
  const reason =
    wait === undefined
      ? {
          reason: "behind_others" as const,
          detail: "the next placement starts the run",
          limit: null,
        }
      : determinedReason(pool, wait);
  return {
    ...reason,
    ahead: wait?.ahead ?? 0,
    blockers: wait?.blockers.slice(0, schedulingLimits.blockersNamedMax) ?? [],
    startsWhen:
      wait === undefined
        ? "at the next placement"
        : startsWhen(demand, reason.reason, undefined, nowMs),
  };
}

function determinedReason(pool: Pool, { demand, reason, detail, limit }: DeterminedWait): Reason {
  const unavailable = unavailableOf(pool, demand);
  return unavailable === null ? { reason, detail, limit } : { ...unavailable, limit: null };
}

function lookAt(pool: Pool, nowMs: number): PlacementPass {
  const pass = new PlacementPass(pool, { nowMs, grantsMax: Number.POSITIVE_INFINITY });
  pass.look();
  return pass;
}

/** The first run of a lane that the pass would not start. */
function firstOf(lane: Lane, pass: PlacementPass): string | undefined {
  for (let next = lane.from(0); next !== null; next = lane.from(next.index + 1)) {
    if (!pass.isGranted(next.demand.id)) return next.demand.id;
  }
  return undefined;
}

/** The first run that waits for free slots, not for its job's limit or its workspace's quota. */
function leaderOf(pass: PlacementPass, kind: Kind): string | undefined {
  for (const [lane, obstacle] of pass.obstacles) {
    if (lane.kind === kind && obstacle.kind !== "limit") return firstOf(lane, pass);
  }
  return undefined;
}

function aheadOf({ queue }: Pool, demand: Demand, kind: Kind, { ranking }: PlacementPass): number {
  const rank = ranking.rankOf(demand);
  let ahead = 0;
  for (const lane of queue.lanes(kind)) {
    for (let next = lane.from(0); next !== null; next = lane.from(next.index + 1)) {
      if (compareRanks(ranking.rankOf(next.demand), rank) >= 0) break;
      ahead += 1;
    }
  }
  return ahead;
}

function blockersOf(
  obstacle: Obstacle | undefined,
  pass: PlacementPass,
  demand: Demand,
): readonly string[] {
  if (obstacle?.kind === "claim") return idsOf(obstacle.claim.blockers);
  if (obstacle?.kind === "exempt") return idsOf(obstacle.runs);
  if (obstacle?.kind === "reserved") return [obstacle.by];
  return obstacle?.kind === "full" ? idsOf(pass.blockersOf(demand)) : [];
}

function idsOf(runs: readonly PlacedRun[]): readonly string[] {
  return runs.map(({ demand }) => demand.id);
}

function reasonOf(pool: Pool, pass: PlacementPass, { demand, lane, leads }: Waiting): Reason {
  const obstacle = pass.obstacles.get(lane);
  const unavailable = unavailableOf(pool, demand);
  if (unavailable !== null) return { ...unavailable, limit: null };
  if (obstacle?.kind === "limit") return limitReason(demand, obstacle.limit);
  const share = pass.ranking.shareOf(demand.job);
  const held = pool.placed.slotsOf(demand.job);
  const isStopped = obstacle?.kind === "claim" && !obstacle.claim.isLent;
  if (share !== null && held >= share && pool.placed.slots > held && !isStopped) {
    const detail = `the experiment holds ${held} slots, and its fair share of the pool is ${share}`;
    return { reason: "fair_share", detail, limit: `fair share: ${share}` };
  }
  const isBehind = obstacle?.kind === "full" && leaderOf(pass, lane.kind) !== demand.id;
  if (obstacle === undefined || !leads || isBehind) {
    return {
      reason: "behind_others",
      detail: "the runs ahead in the queue have not started yet",
      limit: null,
    };
  }
  if (obstacle.kind === "reserved") {
    const detail = `the free slots are reserved for ${obstacle.by}, which is ahead in the queue`;
    return { reason: "reserved", detail, limit: null };
  }
  if (obstacle.kind === "claim" && isStopped) {
    const detail = `${listOf(idsOf(obstacle.claim.blockers))} stop to make room for the run`;
    return { reason: "preempting", detail, limit: null };
  }
  const { reason, detail } = pool.agents.without(demand.avoid ?? [], () => notEnough(pool, demand));
  const exempt = obstacle.kind === "exempt" ? `; ${exemptText(obstacle, pass.nowMs)}` : "";
  return { reason, detail: `${detail}${exempt}`, limit: null };
}

function exemptText({ runs, untilMs }: Exempt, nowMs: number): string {
  return `${listOf(idsOf(runs))} can make room in ${secondsText(untilMs, nowMs)}, after a new checkpoint or the pool's time of exemption`;
}

type Waiting = {
  readonly demand: Demand;
  readonly lane: Lane;
  /** Whether the run is the first of its lane. */
  readonly leads: boolean;
};

type Unavailable = Omit<Reason, "limit">;

/** The reason why the run could not start even if no other run held slots; null if it could. */
function unavailableOf({ agents }: Pool, demand: Demand): Unavailable | null {
  const { known, present, blocked } = agents;
  if (known.agents === 0) {
    return { reason: "no_agents", detail: "no agent has joined the pool yet" };
  }
  const there: Capacity = {
    agents: present.agents + blocked.length,
    slots: blocked.reduce((sum, { slots }) => sum + slots, present.slots),
  };
  if (there.agents === 0 || (there.slots < demand.slots && known.slots >= demand.slots)) {
    const away = known.agents - there.agents;
    return {
      reason: "agents_away",
      detail: `${away} of the pool's ${known.agents} agents are unavailable, with ${known.slots - there.slots} of its ${known.slots} slots`,
    };
  }
  if (agents.couldHold(demand)) return null;
  const [first] = blocked;
  if (first !== undefined && there.slots >= demand.slots) {
    return { reason: first.block.kind, detail: blocksText(blocked) };
  }
  if (demand.constraints === undefined) return null;
  const detail = "the agents that satisfy the constraints are away, disabled or draining";
  return { reason: "constraints", detail };
}

function limitReason({ workspace }: Demand, limit: Limit): Reason {
  if (limit.kind === "max_slots") {
    return {
      reason: "max_slots",
      detail: `the experiment holds ${limit.held} of at most ${limit.slots} slots`,
      limit: `max_slots: ${limit.slots}`,
    };
  }
  const { held, quota, borrows } = limit;
  const but = borrows === null ? "" : ", and all slots beyond it are used or needed by others";
  return {
    reason: "quota",
    detail: `the workspace ${workspace} holds ${held} slots of its quota of ${quota.slots}${but}`,
    limit: `quota of ${workspace}: ${quota.slots}`,
  };
}

const avoidMin = schedulingLimits.avoidMs / 60_000;

function notEnough({ agents }: Pool, demand: Demand): Unavailable {
  const { freeSlots, mostFree, mostTogether, present } = agents.standing(demand);
  const { alone, together } = conditionsOf(demand.constraints);
  const { blocked } = agents;
  const besides = [
    ...(blocked.length > 0 ? [blocksText(blocked)] : []),
    ...(demand.avoid === undefined || demand.avoid.length === 0
      ? []
      : [
          `the last tries failed on ${demand.avoid.join(", ")}, where the run is not tried again for ${avoidMin} minutes while another agent could hold it`,
        ]),
  ];
  const but = besides.map((text) => `; ${text}`).join("");
  if (demand.slots === 0) {
    return {
      reason: "not_enough_free",
      detail: `every agent${agentsText(alone)} runs its maximum number of processes${but}`,
    };
  }
  let free = `${freeSlots} of ${present.slots} are free`;
  if (demand.singleAgent) free = `at most ${Math.max(0, mostFree)} are free on one agent`;
  else if (together.sameLabel !== "") free = `at most ${Math.max(0, mostTogether)} are free there`;
  const which = agentsText(demand.singleAgent ? alone : together);
  const on = which === "" ? "" : ` on agents${which},`;
  return {
    reason: "not_enough_free",
    detail: `the run needs ${slotsText(demand.slots, alone)}${on} and ${free}${but}`,
  };
}

function startsWhen(
  demand: Demand,
  reason: WaitReason,
  obstacle: Obstacle | undefined,
  nowMs: number,
): string {
  const needed = `${slotsText(demand.slots)}${demand.singleAgent ? " of one agent" : ""}`;
  const are = demand.slots === 1 ? "is" : "are";
  switch (reason) {
    case "no_agents":
      return "when an agent has joined the pool";
    case "agents_away":
    case "constraints":
      return "when such an agent is back";
    case "silent":
    case "low_disk":
    case "distrusted":
    case "disabled":
    case "protocol":
      return "when the agent takes runs again";
    case "quota":
      return `when runs of the workspace ${demand.workspace} end, or its quota is raised`;
    case "max_slots":
      return "when runs of the experiment end, or its max_slots is raised";
    case "fair_share":
      return `when the experiment holds less than its share, or ${needed} ${are} left over`;
    case "behind_others":
      return "when the runs ahead have started";
    case "reserved":
      return `when ${needed} ${are} free beyond those that are reserved`;
    case "preempting":
    case "not_enough_free":
      if (obstacle?.kind === "claim") return claimText(obstacle.claim, nowMs);
      if (obstacle?.kind === "exempt") {
        return `when ${listOf(idsOf(obstacle.runs))} have ended, which can be preempted in ${secondsText(obstacle.untilMs, nowMs)}`;
      }
      return demand.slots === 0 ? "when a run without slots ends" : `when ${needed} ${are} free`;
  }
}

function claimText({ blockers, startsByMs }: Claim, nowMs: number): string {
  if (blockers.length === 0) return "at the next placement";
  const latest = Number.isFinite(startsByMs)
    ? `, in ${secondsText(startsByMs, nowMs)} by their time limits and preemption timeouts`
    : "";
  return `when ${listOf(idsOf(blockers))} have ended${latest}`;
}

function secondsText(atMs: number, nowMs: number): string {
  return `${Math.ceil((atMs - nowMs) / 1_000)} s`;
}

function listOf(ids: readonly string[]): string {
  const named = ids.slice(0, schedulingLimits.blockersNamedMax);
  const more = ids.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Quotes the details of the first few blocks and counts the rest. */
function blocksText(blocked: readonly { readonly block: Block }[]): string {
  const named = blocked.slice(0, schedulingLimits.blocksNamedMax).map(({ block }) => block.detail);
  const more = blocked.length - named.length;
  return `${named.join("; ")}${more > 0 ? `; and ${more} more agents` : ""}`;
}
