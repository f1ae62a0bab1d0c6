/**
 * Whether an agent, or a slot of it, gets runs: on → disabled or draining → drained → on. A drain may follow a plain
 * disable and its deadline only becomes shorter. A user's setting stays when an agent is lost, returns, or joins again
 * after its removal: only AgentEnabled and SlotEnabled end it. The agent and its slots are independent.
 */
import type { EventOf } from "@trainyard/contracts";
import { assertNever, type Rejection, reject } from "@trainyard/kernel";

export type Out = {
  readonly state: "disabled" | "draining" | "drained";
  readonly reason: string;
  /** The milliseconds after which a drain kills the agent's runs; null for never. */
  readonly deadlineMs: number | null;
};

export type Use = {
  /** Null while the agent gets runs. */
  readonly out: Out | null;
  /** The slots that get no runs. A slot is never "drained": its run ends, and nothing is recorded of that. */
  readonly slotsOut: Readonly<Record<string, Out>>;
};

export type UseEvent = EventOf<
  | "AgentDisabled"
  | "AgentEnabled"
  | "AgentDrainRequested"
  | "AgentDrained"
  | "SlotDisabled"
  | "SlotEnabled"
>;

export type UseCommand =
  | {
      readonly kind: "disable";
      /** The slot; empty for the whole agent. */
      readonly slot: string;
      readonly reason: string;
      readonly drain: boolean;
      /** The deadline in milliseconds; 0 for never. */
      readonly deadlineMs: number;
    }
  | { readonly kind: "enable"; readonly slot: string }
  | { readonly kind: "note_drained" };

export const inUse: Use = { out: null, slotsOut: {} };

export function useAfter({ out, slotsOut }: Use, event: UseEvent): Use {
  switch (event.type) {
    case "AgentDisabled":
      return {
        slotsOut,
        out: { state: "disabled", reason: event.data.reason, deadlineMs: null },
      };
    case "AgentDrainRequested":
      return { slotsOut, out: draining(out, event.data) };
    case "AgentDrained":
      return { slotsOut, out: out === null ? null : { ...out, state: "drained" } };
    case "AgentEnabled":
      return { slotsOut, out: null };
    case "SlotDisabled": {
      const { slot, reason, drain, deadlineMs } = event.data;
      const before = slotOut(slotsOut, slot);
      const now: Out = drain
        ? draining(before, { reason, deadlineMs })
        : { state: "disabled", reason, deadlineMs: null };
      return { out, slotsOut: { ...slotsOut, [slot]: now } };
    }
    case "SlotEnabled": {
      const { [event.data.slot]: _enabled, ...others } = slotsOut;
      return { out, slotsOut: others };
    }
    default:
      return assertNever(event, "an event of an agent's use");
  }
}

/**
 * Null for a slot that gets runs. A slot's name is a user's text, so inherited properties such as "constructor" do not
 * count.
 */
export function slotOut(slotsOut: Use["slotsOut"], slot: string): Out | null {
  return Object.hasOwn(slotsOut, slot) ? (slotsOut[slot] ?? null) : null;
}

function draining(
  before: Out | null,
  { reason, deadlineMs }: { readonly reason: string; readonly deadlineMs?: number | undefined },
): Out {
  const earlier = before?.state === "draining" ? before.deadlineMs : null;
  return { state: "draining", reason, deadlineMs: least(earlier, deadlineMs ?? null) };
}

/** Returns the lower of two limits, where null means no limit. */
export function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** `slots` are the slots that the agent offers at present. */
export function decideUse(
  { out, slotsOut }: Use,
  slots: readonly string[],
  command: UseCommand,
): readonly UseEvent[] | Rejection {
  if (command.kind === "note_drained") {
    return out?.state === "draining" ? [{ type: "AgentDrained", data: {} }] : [];
  }
  const { slot } = command;
  if (slot !== "" && !slots.includes(slot) && slotOut(slotsOut, slot) === null) {
    const has = slots.length === 0 ? "no slots" : `the slots ${slots.join(", ")}`;
    return reject("slot_unknown", `it has no slot ${slot}, but ${has}`);
  }
  const before = slot === "" ? out : slotOut(slotsOut, slot);
  if (command.kind === "enable") {
    if (before === null) return [];
    if (slot === "") return [{ type: "AgentEnabled", data: {} }];
    return [{ type: "SlotEnabled", data: { slot } }];
  }
  return isAlready(before, command) ? [] : [disabled(command)];
}

type Disable = UseCommand & { readonly kind: "disable" };

function isAlready(before: Out | null, { drain, reason, deadlineMs }: Disable): boolean {
  if (before === null) return false;
  if (!drain) return before.state !== "disabled" || before.reason === reason;
  if (before.state === "disabled") return false;
  if (before.state === "drained" || deadlineMs === 0) return true;
  return before.deadlineMs !== null && before.deadlineMs <= deadlineMs;
}

function disabled({ slot, reason, drain, deadlineMs }: Disable): UseEvent {
  const deadline = deadlineMs > 0 ? { deadlineMs } : {};
  if (slot !== "") {
    return { type: "SlotDisabled", data: { slot, reason, drain, ...(drain ? deadline : {}) } };
  }
  if (drain) return { type: "AgentDrainRequested", data: { reason, ...deadline } };
  return { type: "AgentDisabled", data: { reason } };
}
