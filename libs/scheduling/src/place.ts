/**
 * A placement pass decides which waiting runs get which slots now, and which runs must make room.
 *
 * The policy gives the order. A run that does not fit does the first of these that it can:
 * 1. claims slots that are free soon, because runs that were asked to stop hold them;
 * 2. stops runs, if the policy or a quota allows it, and claims the slots;
 * 3. becomes the head of the queue, if it is the first: the slots on which it fits soonest are reserved, also in the
 *    next pass. Other runs may use reserved slots if the pool preempts and they are preemptible (they stop once the
 *    head fits without them), or if their time limit ends before the head can start.
 *
 * Claimed and reserved slots count as held for the runs behind. Runs with slots and runs without do not wait for each
 * other. Runs that may borrow beyond a quota come last. A pass without preemption, quotas and reservations equals
 * Determined's priority scheduler, except that smaller runs of worse priority may pass.
 *
 * The pass leaves the pool unchanged, except for the note of the head's slots. A grant to a run that passes the head
 * says so, so that the log records it. Grants and stops take effect when their events are folded.
 */
import {
  type Claim,
  claimOf,
  type Exempt,
  goesToRunsAhead,
  holderOf,
  type Obstacle,
  reservationOf,
} from "./claim.ts";
import type { Demand, Grant, Pass, Passed, Share, Stop } from "./demand.ts";
import { determinedPass } from "./determined/pass.ts";
import { fit } from "./fit.ts";
import { type Limit, limitOf, loans } from "./limits-of-runs.ts";
import { schedulingLimits } from "./limits.ts";
import { endsByMs, type PlacedRun } from "./placed.ts";
import { nextAgeingMs } from "./policies/ageing.ts";
import { policies } from "./policies/policies.ts";
import type { Ranking } from "./policies/policy.ts";
import type { Pool } from "./pool.ts";
import type { Kind, Lane } from "./queue.ts";
import { type Refused, unlessNo } from "./refused.ts";
import { lastReservation, makeRoom, type Room, soonest } from "./room.ts";
import { Standing } from "./standing.ts";
import { Trial } from "./trial.ts";
import { type Turn, Walk } from "./walk.ts";

export type PassOptions = {
  /** The time of the pass, on the clock of the runs' times. */
  readonly nowMs: number;
  readonly grantsMax?: number;
};

/** The placement rules by the pool's `compat`. */
const rules: Readonly<
  Record<Pool["settings"]["compat"], (pool: Pool, options: PassOptions) => Pass>
> = {
  "": (pool, options) => new PlacementPass(pool, options).run(),
  determined: determinedPass,
};

export function place(pool: Pool, options: PassOptions): Pass {
  const avoidsUntilMs = pool.queue.endAvoidance(options.nowMs);
  const pass = rules[pool.settings.compat](pool, options);
  const againAtMs = Math.min(avoidsUntilMs, pass.againAtMs ?? Number.POSITIVE_INFINITY);
  return { ...pass, againAtMs: Number.isFinite(againAtMs) ? againAtMs : null };
}

export class PlacementPass {
  readonly #pool: Pool;
  readonly nowMs: number;
  readonly #grantsMax: number;
  readonly #trial: Trial;
  readonly #standing: Standing;
  readonly ranking: Ranking;
  readonly #grants = new Map<string, Grant>();
  readonly #stops: Stop[] = [];
  readonly #claims: Claim[] = [];
  /** The claim on reserved slots, of which a pass has at most one. */
  #lent: Claim | null = null;
  /** The runs that would make room for a run at the end of their exemption. */
  readonly #exempt = new Map<string, Exempt>();
  /** The reason for each blocked lane that `look` found, in the order of the pass. */
  readonly obstacles = new Map<Lane, Obstacle>();
  #notesObstacles = false;
  /** Runs that are stopping, so that their slots become free soon. */
  readonly #leaving: PlacedRun[];
  /** The questions that were answered with no, by the shape of the demand. */
  readonly #no = new Map<string, Refused>();
  /** The recorded reservation, including those that this pass's grants record. */
  #recorded: readonly Share[] | null;
  #againAtMs = Number.POSITIVE_INFINITY;

  constructor(pool: Pool, { nowMs, grantsMax = schedulingLimits.grantsPerPassMax }: PassOptions) {
    const { settings, agents, placed, queue } = pool;
    this.#pool = pool;
    this.nowMs = nowMs;
    this.#grantsMax = grantsMax;
    this.#trial = new Trial(agents);
    const { preemptExemptMs } = settings;
    this.#standing = new Standing(placed, { preemptExemptMs, nowMs });
    this.#leaving = [...placed.stoppingRuns];
    this.#recorded = pool.recorded?.shares ?? null;
    const standing = this.#standing;
    this.ranking = policies[settings.policy].open({
      settings,
      agents,
      placed,
      queue,
      standing,
      jobs: pool.jobs,
      nowMs,
    });
  }

  isGranted(id: string): boolean {
    return this.#grants.has(id);
  }

  run(): Pass {
    this.#place();
    const head = this.#lent;
    const { kept } = this.#pool;
    if (head === null) this.#pool.kept = null;
    else if (head.demand.id !== kept?.id || head.shares !== kept.shares) {
      this.#pool.kept = { id: head.demand.id, shares: head.shares };
    }
    const [first] = this.#claims;
    return {
      grants: [...this.#grants.values()],
      stops: this.#stops,
      reservation: first === undefined ? null : reservationOf(first),
      againAtMs: Number.isFinite(this.#againAtMs) ? this.#againAtMs : null,
    };
  }

  /** Makes a trial pass that records obstacles and leaves the pool unchanged. */
  look(): void {
    this.#notesObstacles = true;
    this.#place();
  }

  #place(): void {
    this.#trial.attempt(() => {
      for (const kind of ["slotless", "slotted"] as const) this.#placeKind(kind);
    });
  }

  #placeKind(kind: Kind): void {
    const lanes = this.#pool.queue.lanes(kind);
    this.#noteAgeing(lanes);
    const rankOf = (demand: Demand) => this.ranking.rankOf(demand);
    const borrowers: Start[] = [];
    const starts = lanes.map((lane) => ({ lane, from: 0 }));
    const walk = new Walk(this.#notesObstacles ? starts : this.#open(starts, borrowers), rankOf);
    for (let turn = walk.next(); turn !== null; turn = walk.next()) {
      if (this.#grants.size >= this.#grantsMax) return;
      const limit = limitOf(turn.demand, this.#pool, this.#standing);
      if (mayBorrow(limit)) borrowers.push({ lane: turn.lane, from: turn.index });
      if (limit !== null) this.#noteObstacle(turn.lane, { kind: "limit", limit });
      else if (this.#start(turn)) turn.take();
      else if (!this.#block(turn)) return;
    }
    this.#lend(new Walk(borrowers, rankOf));
  }

  /**
   * Leaves out lanes whose first run exceeds a limit: the limit stays exceeded during a pass, as held slots only grow.
   * Of these, lanes that may borrow are added to `borrowers`.
   */
  #open(starts: readonly Start[], borrowers: Start[]): readonly Start[] {
    return starts.filter((start) => {
      const { first } = start.lane;
      const limit = first === undefined ? null : limitOf(first, this.#pool, this.#standing);
      if (mayBorrow(limit)) borrowers.push(start);
      return limit === null;
    });
  }

  /** Schedules another pass for the time at which ageing changes the order of the queue. */
  #noteAgeing(lanes: readonly Lane[]): void {
    const { ageingMs } = this.#pool.settings;
    if (ageingMs <= 0 || lanes.length < 2) return;
    for (const { first } of lanes) {
      const atMs = first === undefined ? null : nextAgeingMs(first, ageingMs, this.nowMs);
      if (atMs !== null) this.#againAtMs = Math.min(this.#againAtMs, atMs);
    }
  }

  #noteObstacle(lane: Lane, obstacle: Obstacle): void {
    if (this.#notesObstacles) this.obstacles.set(lane, obstacle);
  }

  #start(turn: Turn): boolean {
    const { demand, lane } = turn;
    const no = this.#refusedOf(lane);
    const now = this.#fitNow(turn);
    const shares = now ?? this.#fitOnLoan(demand, no);
    if (shares === null) return false;
    this.#grant(demand, { shares, borrowed: 0, onItsSlots: now === null });
    return true;
  }

  #refusedOf({ shape }: Lane): Refused {
    let refused = this.#no.get(shape);
    if (refused === undefined) {
      refused = new Map();
      this.#no.set(shape, refused);
    }
    return refused;
  }

  #grant(
    demand: Demand,
    { onItsSlots, ...grant }: Pick<Grant, "shares" | "borrowed"> & Pick<Passed, "onItsSlots">,
  ): void {
    const { id } = demand;
    this.#trial.hold(id, grant.shares);
    this.#standing.grant(demand);
    const passed = this.#passedBy(onItsSlots);
    this.#grants.set(id, { id, ...grant, ...(passed === null ? {} : { passed }) });
  }

  /** Describes the head that a granted run passes; the first such grant records the slots reserved for the head. */
  #passedBy(onItsSlots: boolean): Passed | null {
    const head = this.#lent;
    if (head === null) return null;
    const { demand, shares } = head;
    const isRecorded = this.#recorded === shares;
    const isLarge = shares.length > schedulingLimits.reservedNodesRecordedMax;
    const reserved = isRecorded || isLarge ? [] : shares;
    if (!onItsSlots && reserved.length === 0) return null;
    this.#recorded = shares;
    return { id: demand.id, onItsSlots, reserved };
  }

  #fit(demand: Demand): readonly Share[] | null {
    const { agents, settings } = this.#pool;
    return fit(agents, demand, settings.fit);
  }

  #fitNow({ demand, lane }: Turn): readonly Share[] | null {
    return unlessNo(this.#refusedOf(lane), "now", 0, () => this.#fit(demand));
  }

  /** Fits the run on slots that are reserved for the head, if the head starts no later because of it. */
  #fitOnLoan(demand: Demand, no: Refused): readonly Share[] | null {
    const lent = this.#lent;
    if (lent === null) return null;
    const makesRoom = this.#pool.settings.preemption && demand.preemptible;
    const endsMs = endsByMs({ demand, startedAtMs: null, stuck: false }, this.nowMs);
    const endsBefore = Number.isFinite(lent.startsAtMs) && endsMs <= lent.startsAtMs;
    if (!makesRoom && !endsBefore) return null;
    return unlessNo(no, "on loan", 0, () => this.#without([lent], () => this.#fit(demand)));
  }

  #without<T>(claims: readonly Claim[], work: () => T): T {
    return this.#trial.attempt(() => {
      for (const { demand } of claims) this.#trial.release(holderOf(demand));
      return work();
    });
  }

  /** Claims slots for a run that does not fit, or notes its obstacle; returns false if no run may pass it. */
  #block({ demand, lane }: Turn): boolean {
    const no = this.#refusedOf(lane);
    const isKept = this.#pool.kept?.id === demand.id;
    const right = isKept ? "the head" : `by ${this.ranking.rightOf(demand)}`;
    const claim =
      unlessNo(no, "soon", this.#leaving.length, () => this.#claimSoon(demand)) ??
      unlessNo(no, right, 0, () => this.#claimByStops(demand)) ??
      this.#reserve(demand);
    const exempt = this.#exempt.get(demand.id);
    if (claim === null) {
      if (this.#notesObstacles) this.obstacles.set(lane, exempt ?? this.#obstacleOf(demand, no));
      return true;
    }
    this.#claims.push(claim);
    if (claim.isLent) this.#lent = claim;
    if (this.#notesObstacles) {
      const fits = (one: Demand): boolean => this.#fit(one) !== null;
      const isTaken = goesToRunsAhead(this.#trial, claim, this.obstacles, fits);
      this.obstacles.set(lane, exempt ?? (isTaken ? { kind: "full" } : { kind: "claim", claim }));
    }
    this.#trial.hold(holderOf(demand), claim.shares);
    return this.#pool.settings.backfill !== "none";
  }

  #obstacleOf(demand: Demand, no: Refused): Obstacle {
    const [first] = this.#claims;
    if (first === undefined) return { kind: "full" };
    const unclaimed = unlessNo(no, "unclaimed", this.#claims.length, () =>
      this.#without(this.#claims, () => this.#fit(demand)),
    );
    return unclaimed === null ? { kind: "full" } : { kind: "reserved", by: first.demand.id };
  }

  #claimSoon(demand: Demand): Claim | null {
    if (this.#leaving.length === 0) return null;
    const shares = this.#trial.attempt(() => {
      for (const run of this.#leaving) this.#trial.release(run.demand.id);
      return this.#fit(demand);
    });
    return shares === null ? null : this.#claimOf(demand, shares, false);
  }

  #claimByStops(demand: Demand): Claim | null {
    if (demand.slots === 0) return null;
    const room = this.#trial.attempt(() => {
      for (const run of this.#leaving) this.#trial.release(run.demand.id);
      return makeRoom(this.#trial, demand, this.#victimsFor(demand), () => this.#fit(demand));
    });
    if (room === null || this.#isExempt(demand, room)) return null;
    for (const run of room.runs) {
      this.#stops.push({ id: run.demand.id, by: demand.id });
      this.#standing.stop(run);
      this.#leaving.push(run);
    }
    return this.#claimOf(demand, room.shares, false);
  }

  /** If some of the runs may not be stopped yet, none is: the next pass chooses again. */
  #isExempt({ id }: Demand, { runs }: Room): boolean {
    const ends = runs.map((run) => this.#standing.exemptUntilMs(run));
    const untilMs = Math.max(this.nowMs, ...ends);
    if (untilMs === this.nowMs) return false;
    this.#againAtMs = Math.min(this.#againAtMs, untilMs);
    this.#exempt.set(id, { kind: "exempt", runs, untilMs });
    return true;
  }

  /** Runs that are exempt from preemption come last: they are taken only if there is no room without them. */
  *#victimsFor(demand: Demand): Generator<PlacedRun> {
    const { settings, placed, kept } = this.#pool;
    const victims = [false, true].slice(0, settings.preemptExemptMs > 0 ? 2 : 1);
    for (const exempt of victims) {
      yield* loans(settings, placed, this.#standing, exempt);
      yield* this.ranking.victimsFor(demand, exempt);
      if (!settings.preemption || kept?.id !== demand.id) continue;
      for (const run of placed.borrowersFrom(demand.id)) {
        if (this.#standing.mayStop(run, exempt)) yield run;
      }
    }
  }

  /** Reserves slots for the first run only, since reserved slots keep other runs waiting. */
  #reserve(demand: Demand): Claim | null {
    const { settings, agents } = this.#pool;
    // A run of a single slot needs no reservation: as first in the queue it gets the first free slot that suits it.
    const needsNone = demand.slots === 1 && settings.backfill === "reserved";
    if (demand.slots === 0 || needsNone || settings.backfill === "any") return null;
    if (this.#lent !== null || !agents.couldHold(demand)) return null;
    const shares =
      lastReservation(this.#pool, this.#trial, demand) ?? this.#soonestFor(demand)?.shares ?? null;
    return shares === null ? null : this.#claimOf(demand, shares, true);
  }

  #soonestFor(demand: Demand): Room | null {
    const candidates = soonest(this.#pool, demand, this.nowMs);
    return makeRoom(this.#trial, demand, candidates, () => this.#fit(demand));
  }

  /** The runs whose ends would soonest let the demand fit; empty if it cannot fit. */
  blockersOf(demand: Demand): readonly PlacedRun[] {
    return this.#soonestFor(demand)?.runs ?? [];
  }

  #claimOf(demand: Demand, shares: readonly Share[], isLent: boolean): Claim {
    const claim = claimOf(this.#pool, demand, { shares, isLent, nowMs: this.nowMs });
    // The head may start as soon as it may stop others.
    const { untilMs = Number.POSITIVE_INFINITY } = this.#exempt.get(demand.id) ?? {};
    return { ...claim, startsAtMs: Math.min(claim.startsAtMs, untilMs) };
  }

  /** Grants the remaining slots to runs beyond their workspace's quota that may borrow. */
  #lend(walk: Walk): void {
    for (let turn = walk.next(); turn !== null; turn = walk.next()) {
      if (this.#grants.size >= this.#grantsMax) return;
      const limit = limitOf(turn.demand, this.#pool, this.#standing);
      const borrows = limit?.kind === "quota" ? limit.borrows : null;
      if (borrows === null) continue;
      const shares = this.#fitNow(turn);
      if (shares === null) continue;
      this.#grant(turn.demand, { shares, borrowed: borrows, onItsSlots: false });
      turn.take();
    }
  }
}

/** A lane, and the index of the first of its runs to consider. */
type Start = { readonly lane: Lane; readonly from: number };

function mayBorrow(limit: Limit | null): boolean {
  return limit?.kind === "quota" && limit.borrows !== null;
}
