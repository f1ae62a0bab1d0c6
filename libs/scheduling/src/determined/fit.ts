/**
 * Determined's fitting. A task is placed, all or nothing, by the first of these rules that holds it:
 *
 * 1. Shared: one agent with enough empty slots (or a free place for a task without slots), whether it is in use or not.
 * 2. Dedicated, for tasks of several slots that may span agents: whole agents without used slots, all of the largest
 *    size that divides the demand.
 * 3. Heterogeneous, if allowed: whole agents of several sizes, taken from the largest down. The sum must be exact, and
 *    no choice is undone, so some splits are missed (10 slots on agents of 8, 6 and 4).
 *
 * Agents that a task is blocked from are left out. Among equal agents, the agent with the least hash distance to the
 * task is taken, which spreads the tasks.
 */
import { md5Le64 } from "./md5.ts";
import type { DeterminedTask, FitRules, Part } from "./model.ts";
import { emptySlotless, emptySlots, type Room, type Rooms } from "./rooms.ts";

export type FitRequest = Pick<DeterminedTask, "id" | "slots" | "singleAgent" | "blockedAgents">;

/** Returns the parts of the task in node rank order; null if the task does not fit. */
export function findFits(
  request: FitRequest,
  rooms: Rooms,
  rules: FitRules,
): readonly Part[] | null {
  const shared = sharedFit(request, permittedRooms(request, rooms), rules);
  if (shared !== null) return [{ agent: shared.id, slots: request.slots }];
  if (request.singleAgent || request.slots <= 1) return null;
  return dedicatedFit(request, rooms, rules);
}

function permittedRooms({ blockedAgents }: FitRequest, rooms: Rooms): readonly Room[] {
  const all = [...rooms.values()];
  if (blockedAgents.length === 0) return all;
  const blocked = new Set(blockedAgents);
  return all.filter(({ id }) => !blocked.has(id));
}

/** Whether one agent alone has room for a task of this many slots. */
export function hasRoom(room: Room, slots: number): boolean {
  return slots === 0 ? emptySlotless(room) > 0 : emptySlots(room) >= slots;
}

/**
 * Scores an agent from 0 to 1; higher is better. `best` prefers the fewest empty slots, `worst` the largest empty
 * share.
 */
export function fitScore(policy: FitRules["policy"], slots: number, room: Room): number {
  if (slots === 0 && room.usedSlots === 0) {
    if (room.slotlessMax === 0) return 0;
    const empty = emptySlotless(room);
    return policy === "best" ? 1 / (1 + empty) : empty / room.slotlessMax;
  }
  if (policy === "best") return 1 / (1 + emptySlots(room));
  return room.slots === 0 ? 0 : emptySlots(room) / room.slots;
}

/** The distance from an agent's hash to the task's hash, modulo 2^64. */
export function hashDistance(task: bigint, agent: bigint): bigint {
  return BigInt.asUintN(64, task - agent);
}

type Candidate = { readonly room: Room; readonly score: number; readonly distance: bigint };

function candidatesOf(
  { id, slots }: FitRequest,
  rooms: readonly Room[],
  { policy }: FitRules,
): readonly Candidate[] {
  const hash = md5Le64(id);
  return rooms.map((room) => ({
    room,
    score: fitScore(policy, slots, room),
    distance: hashDistance(hash, room.hash),
  }));
}

function byPreference(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.distance !== b.distance) return a.distance < b.distance ? -1 : 1;
  return a.room.id < b.room.id ? -1 : 1;
}

function sharedFit(request: FitRequest, rooms: readonly Room[], rules: FitRules): Room | null {
  const roomy = rooms.filter((room) => hasRoom(room, request.slots));
  let first: Candidate | null = null;
  for (const candidate of candidatesOf(request, roomy, rules)) {
    if (first === null || byPreference(candidate, first) < 0) first = candidate;
  }
  return first?.room ?? null;
}

/** Finds whole agents for a task that fits on no single agent, as step 2 and 3 of the header describe. */
export function dedicatedFit(
  request: FitRequest,
  rooms: Rooms,
  rules: FitRules,
): readonly Part[] | null {
  const bySize = Map.groupBy(
    permittedRooms(request, rooms).filter((room) => room.usedSlots === 0 && emptySlots(room) > 0),
    emptySlots,
  );
  const sizes = [...bySize.keys()].sort((a, b) => b - a);
  const whole = (size: number, count: number): readonly Part[] =>
    [...candidatesOf(request, bySize.get(size) ?? [], rules)]
      .sort(byPreference)
      .slice(0, count)
      .map(({ room }) => ({ agent: room.id, slots: size }));
  const countOf = (size: number): number => bySize.get(size)?.length ?? 0;

  const equal = sizes.find(
    (size) => request.slots % size === 0 && countOf(size) >= request.slots / size,
  );
  if (equal !== undefined) return whole(equal, request.slots / equal);
  if (!rules.heterogeneous) return null;

  let missing = request.slots;
  const parts: Part[] = [];
  for (const size of sizes) {
    const count = Math.min(countOf(size), Math.floor(missing / size));
    parts.push(...whole(size, count));
    missing -= count * size;
  }
  return missing === 0 ? parts : null;
}
