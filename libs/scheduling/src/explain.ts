/** Explains why waiting runs have no slots yet, in the words that users see. */
import type { Block, Capacity } from "./agents.ts";
import { conditionsOf } from "./constraints.ts";
import type { Demand } from "./demand.ts";
import { type DeterminedWait, determinedWaits } from "./determined/explain.ts";
import { schedulingLimits } from "./limits.ts";
import type { Limit } from "./limits-of-runs.ts";
import type { Exempt, Obstacle } from "./claim.ts";
import { PlacementPass } from "./place.ts";
import type { Pool } from "./pool.ts";
import { type Kind, type Lane, placeOf } from "./queue.ts";
import { idsOf, listOf, secondsText, startsWhen, type WaitReason } from "./starts-when.ts";
import { agentsText, areText, slotsText } from "./texts.ts";
import { compareRanks, Walk } from "./walk.ts";

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
  /** The first few of the runs that hold the slots that the run waits for. */
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
  if (pass.isGranted(id)) return placedNext;
  const obstacle = pass.obstacles.get(lane);
  const first = firstOf(lane, pass);
  const reason = reasonOf(pool, pass, { demand, lane, leads: first?.id === id });
  const isBehind = reason.reason === "behind_others";
  const blockers = isBehind ? [] : blockersOf(obstacle, pass, demand);
  const ahead = isBehind ? (leaderOf(pass, lane.kind) ?? first)?.id : undefined;
  return {
    ...reason,
    ahead: aheadOf(pool, demand, lane.kind, pass),
    blockers: blockers.slice(0, schedulingLimits.blockersNamedMax),
    startsWhen: startsWhen(demand, reason.reason, { obstacle, ahead, nowMs }),
  };
}

/** A run that the next pass starts has no other reason to wait. */
const placedNext: Explanation = {
  reason: "behind_others",
  detail: "the next placement starts the run",
  limit: null,
  ahead: 0,
  blockers: [],
  startsWhen: "at the next placement",
};

function explainDetermined(
  pool: Pool,
  demand: Demand,
  waits: readonly DeterminedWait[],
  nowMs: number,
): Explanation {
  const wait = waits.find((one) => one.demand.id === demand.id);
  if (wait === undefined) return placedNext;
  const reason = determinedReason(pool, wait);
  return {
    ...reason,
    ahead: wait.ahead,
    blockers: wait.blockers.slice(0, schedulingLimits.blockersNamedMax),
    startsWhen: startsWhen(demand, reason.reason, { ahead: wait.leader, nowMs }),
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
function firstOf(lane: Lane, pass: PlacementPass): Demand | undefined {
  for (let next = lane.from(0); next !== null; next = lane.from(next.index + 1)) {
    if (!pass.isGranted(next.demand.id)) return next.demand;
  }
  return undefined;
}

/** The first run that waits for free slots, not for its job's limit or its workspace's quota. */
function leaderOf(pass: PlacementPass, kind: Kind): Demand | undefined {
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
  return obstacle?.kind === "full" ? idsOf(pass.blockersOf(demand)) : [];
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
    const detail = `the experiment holds ${slotsText(held)}, and its fair share of the pool is ${share}`;
    return { reason: "fair_share", detail, limit: `fair share: ${share}` };
  }
  const leader = leaderOf(pass, lane.kind);
  const isBehind = obstacle?.kind === "full" && leader?.id !== demand.id;
  if (obstacle === undefined || !leads || isBehind) {
    return { reason: "behind_others", detail: behindText(pool, pass, demand, leader), limit: null };
  }
  if (obstacle.kind === "reserved") {
    const detail = `the free slots are reserved for ${obstacle.by}, which is ahead in the queue`;
    return { reason: "reserved", detail, limit: null };
  }
  if (obstacle.kind === "claim" && isStopped) {
    const { blockers } = obstacle.claim;
    const stop = blockers.length === 1 ? "stops" : "stop";
    const detail = `${listOf(idsOf(blockers))} ${stop} to make room for the run`;
    return { reason: "preempting", detail, limit: null };
  }
  const { reason, detail } = pool.agents.without(demand.avoid ?? [], () => notEnough(pool, demand));
  const exempt = obstacle.kind === "exempt" ? `; ${exemptText(obstacle, pass.nowMs)}` : "";
  return { reason, detail: `${detail}${exempt}`, limit: null };
}

/** Under `priority`, all trials of an older experiment come first; the text says so, and how to change it. */
function behindText(
  { settings }: Pool,
  { ranking }: PlacementPass,
  demand: Demand,
  leader: Demand | undefined,
): string {
  const text = "the runs ahead in the queue have not started yet";
  if (settings.policy !== "priority" || leader === undefined) return text;
  const isOlder = leader.job !== demand.job && placeOf(leader) < placeOf(demand);
  const [a, b] = [ranking.rankOf(leader), ranking.rankOf(demand)];
  if (!isOlder || compareRanks(a.slice(0, 2), b.slice(0, 2)) !== 0) return text;
  return `${text}: under the policy priority, all trials of an older experiment come first (under round_robin, experiments take turns)`;
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
      detail: `${away} of the pool's ${known.agents} agents ${areText(away)} unavailable, with ${known.slots - there.slots} of its ${known.slots} slots`,
    };
  }
  if (agents.couldHold(demand)) return null;
  const [first] = blocked;
  if (first !== undefined && there.slots >= demand.slots) {
    return { reason: first.block.kind, detail: blocksText(blocked) };
  }
  if (demand.constraints === undefined) return null;
  const away = "the agents that satisfy the constraints are away, disabled or draining";
  return { reason: "constraints", detail: [away, ...excludedTexts(demand)].join("; ") };
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
    detail: `the workspace ${workspace} holds ${slotsText(held)} of its quota of ${quota.slots}${but}`,
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
    ...excludedTexts(demand),
  ];
  const but = besides.map((text) => `; ${text}`).join("");
  if (demand.slots === 0) {
    return {
      reason: "not_enough_free",
      detail: `every agent${agentsText(alone)} runs its maximum number of processes${but}`,
    };
  }
  const are = (count: number): string => `${Math.max(0, count)} ${areText(count)} free`;
  let free = `${freeSlots} of ${present.slots} ${areText(freeSlots)} free`;
  if (demand.singleAgent) free = `at most ${are(mostFree)} on one agent`;
  else if (together.sameLabel !== "") free = `at most ${are(mostTogether)} there`;
  const which = agentsText(demand.singleAgent ? alone : together);
  const on = which === "" ? "" : ` on agents${which},`;
  return {
    reason: "not_enough_free",
    detail: `the run needs ${slotsText(demand.slots, alone)}${on} and ${free}${but}`,
  };
}

/** Names the first few agents that the run is never placed on; empty for none. */
function excludedTexts({ constraints }: Demand): readonly string[] {
  const excluded = constraints?.excludedAgents ?? [];
  if (excluded.length === 0) return [];
  const named = excluded.slice(0, schedulingLimits.agentsNamedMax).join(", ");
  const more = excluded.length - schedulingLimits.agentsNamedMax;
  const others = more > 0 ? ` and ${more} more` : "";
  return [
    `it is not placed on ${named}${others}, which its configuration, a log policy or an earlier launch excludes`,
  ];
}

/** Quotes the details of the first few blocks and counts the rest. */
function blocksText(blocked: readonly { readonly block: Block }[]): string {
  const named = blocked.slice(0, schedulingLimits.blocksNamedMax).map(({ block }) => block.detail);
  const more = blocked.length - named.length;
  return `${named.join("; ")}${more > 0 ? `; and ${more} more agents` : ""}`;
}
