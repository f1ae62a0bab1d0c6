/** The working copy of a pass: the room on each agent, which the pass occupies and vacates. */
import { md5Le64 } from "./md5.ts";
import type { DeterminedAgent, Part } from "./model.ts";

export type Room = {
  readonly id: string;
  readonly hash: bigint;
  readonly slots: number;
  readonly slotlessMax: number;
  readonly takesWork: boolean;
  usedSlots: number;
  slotless: number;
};

export type Rooms = ReadonlyMap<string, Room>;

export function roomsOf(agents: readonly DeterminedAgent[]): Rooms {
  return new Map(agents.map((agent) => [agent.id, { ...agent, hash: md5Le64(agent.id) }]));
}

export function emptySlots(room: Room): number {
  return room.takesWork ? Math.max(0, room.slots - room.usedSlots) : 0;
}

export function emptySlotless(room: Room): number {
  return room.takesWork ? Math.max(0, room.slotlessMax - room.slotless) : 0;
}

export function occupy(rooms: Rooms, parts: readonly Part[]): void {
  for (const part of parts) change(rooms, part, 1);
}

export function vacate(rooms: Rooms, parts: readonly Part[]): void {
  for (const part of parts) change(rooms, part, -1);
}

function change(rooms: Rooms, { agent, slots }: Part, sign: 1 | -1): void {
  const room = rooms.get(agent);
  if (room === undefined) return;
  if (slots === 0) room.slotless += sign;
  else room.usedSlots += sign * slots;
}
