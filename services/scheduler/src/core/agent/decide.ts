import type { EventData } from "@trainyard/contracts";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import { holderOf } from "./holder.ts";
import type { AgentCommand, AgentEvent, AgentState } from "./state.ts";
import { checkpointsText, noteCheckpoints, undeliveredAfter } from "./undelivered.ts";
import { decideUse, inUse, useAfter } from "./use.ts";

function evolveAgent(state: AgentState, event: AgentEvent): AgentState {
  switch (event.type) {
    case "AgentJoined":
      return { ...state, status: "present", joined: event.data, refuses: false };
    case "AgentLost":
      return { ...state, status: "lost" };
    case "AgentReturned":
      return {
        ...state,
        status: "present",
        joined: state.joined === null ? null : rejoined(state.joined, event.data),
        refuses: false,
      };
    case "AgentNameRefused":
      return { ...state, refuses: true };
    case "AgentNameCleared":
      return { ...state, refuses: false };
    case "SchedulerEpochRaised":
      return { ...state, epochOffset: event.data.to - event.data.leaseEpoch };
    case "AgentRemoved":
      return {
        ...state,
        status: "removed",
        undelivered: null,
        distrusted: false,
        diskLow: false,
        refuses: false,
        notices: [],
      };
    case "AgentDistrusted":
      return { ...state, distrusted: true };
    case "AgentTrusted":
      return { ...state, distrusted: false };
    case "AgentDiskLow":
      return { ...state, diskLow: true };
    case "AgentDiskFreed":
      return { ...state, diskLow: false };
    case "AgentNoticed":
      return { ...state, notices: event.data.notices };
    case "CheckpointsLeft":
      return { ...state, undelivered: undeliveredAfter(event.data) };
    case "AgentDisabled":
    case "AgentEnabled":
    case "AgentDrainRequested":
    case "AgentDrained":
    case "SlotDisabled":
    case "SlotEnabled":
      return { ...state, ...useAfter(state, event) };
    default:
      return state;
  }
}

function decideAgent(state: AgentState, command: AgentCommand): readonly AgentEvent[] | Rejection {
  switch (command.kind) {
    case "join": {
      const { joined } = command;
      const known = state.status !== "none" && state.status !== "removed" ? state.joined : null;
      if (known !== null && sameOffer(known, joined)) return [];
      return [{ type: "AgentJoined", data: joined }];
    }
    case "lose":
      if (state.status !== "present") return [];
      return [{ type: "AgentLost", data: { reason: command.reason } }];
    case "return": {
      if (state.status === "none") return unknown;
      const { occupations, slots, left = [], holder } = command;
      const named = left.length === 0 ? {} : { left: { runs: left } };
      const data = { occupations, slots, ...named, ...holderOf(holder) };
      return [{ type: "AgentReturned", data }];
    }
    case "note_silent":
      return [{ type: "AgentsSilent", data: command.silent }];
    case "note_heard":
      return [{ type: "AgentsHeard", data: command.heard }];
    case "distrust":
      if (state.status === "none") return unknown;
      return [{ type: "AgentDistrusted", data: command.distrusted }];
    case "trust":
      if (state.status === "none") return unknown;
      return state.distrusted ? [{ type: "AgentTrusted", data: { reason: command.reason } }] : [];
    case "note_disk":
      return noteDisk(state, command);
    case "note_checkpoints":
      return noteCheckpoints(state, command.left);
    case "note_notices":
      return noteNotices(state, command.notices);
    case "note_left": {
      const { allocation, message } = command;
      return [{ type: "ProcessesLeft", data: { allocation, message } }];
    }
    case "refuse": {
      if (state.refuses) return [];
      const { folder, place, address, reason } = command;
      return [{ type: "AgentNameRefused", data: { folder, place, address, reason } }];
    }
    case "refuse_nobody":
      return state.refuses ? [{ type: "AgentNameCleared", data: {} }] : [];
    case "disable":
    case "enable":
    case "note_drained": {
      if (state.status === "none" || state.status === "removed") return unknown;
      const slots = state.joined?.slots.map(({ id }) => id) ?? [];
      return decideUse(state, slots, command);
    }
    case "remove":
      return remove(state, command);
    case "raise_epoch": {
      const { from, to, leaseEpoch } = command;
      if (to - leaseEpoch <= state.epochOffset) return [];
      return [{ type: "SchedulerEpochRaised", data: { from, to, leaseEpoch } }];
    }
    case "clear": {
      if (state.status === "none") return unknown;
      const { allocation, slots } = command;
      return [{ type: "SlotsCleared", data: { allocation, slots } }];
    }
    default:
      return assertNever(command, "an agent's command");
  }
}

const unknown = reject("agent_unknown", "the agent has never joined, or was removed");

/** A lost agent's runs have ended for the platform: what it still held becomes free. */
function remove(
  state: AgentState,
  { reason, runs, force }: AgentCommand & { readonly kind: "remove" },
): readonly AgentEvent[] | Rejection {
  if (state.status === "none") return unknown;
  if (state.status === "removed") return [];
  if (state.status === "present" && runs.length > 0) {
    const named = runs.slice(0, limits.runsNamedMax).join(", ");
    const more = runs.length > limits.runsNamedMax ? ", …" : "";
    const detail = `it is connected and has runs (${named}${more}): drain it first`;
    return reject("agent_has_runs", detail);
  }
  if (state.undelivered !== null && !force) {
    return reject("agent_has_checkpoints", checkpointsText(state.undelivered));
  }
  return [{ type: "AgentRemoved", data: { reason } }];
}

function noteDisk(
  state: AgentState,
  { low, freeBytes }: AgentCommand & { readonly kind: "note_disk" },
): readonly AgentEvent[] {
  if (state.diskLow === low) return [];
  if (!low) return [{ type: "AgentDiskFreed", data: { freeBytes } }];
  return [{ type: "AgentDiskLow", data: { freeBytes, floorBytes: limits.diskFloorBytes } }];
}

function noteNotices(state: AgentState, notices: readonly string[]): readonly AgentEvent[] {
  return sameNotices(state.notices, notices) ? [] : [{ type: "AgentNoticed", data: { notices } }];
}

export function sameNotices(before: readonly string[], now: readonly string[]): boolean {
  return before.length === now.length && before.every((text, index) => text === now[index]);
}

type Joined = EventData<"AgentJoined">;

/** The offer and its agent, after a return. */
export function rejoined(joined: Joined, returned: EventData<"AgentReturned">): Joined {
  return { ...joined, slots: returned.slots, ...holderOf(returned) };
}

/** The offer and identity of an agent, as a text that is equal where both are. */
export function offerText(joined: Joined): string {
  const { pool, slots, labels, version, address, folder, place } = joined;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const offered = slots.map((slot) => {
    const { id, device, uuid, memoryBytes, name = "", numaNode = null, nvlinkGroup = null } = slot;
    return [id, device, uuid, memoryBytes, name, numaNode, nvlinkGroup];
  });
  const { processGroups, engine, runsAsRoot, protocol, protocolOldest } = joined;
  const runs = [processGroups, engine, runsAsRoot, protocol, protocolOldest];
  return JSON.stringify([pool, offered, sorted, version, address, folder, place, runs]);
}

function sameOffer(a: Joined, b: Joined): boolean {
  return offerText(a) === offerText(b);
}

export const agentDecider: Decider<AgentState, AgentCommand, AgentEvent> = {
  initial: {
    ...inUse,
    status: "none",
    joined: null,
    distrusted: false,
    diskLow: false,
    undelivered: null,
    notices: [],
    refuses: false,
    epochOffset: 0,
  },
  decide: decideAgent,
  evolve: evolveAgent,
};
