/**
 * Handles a decision that the log refuses: it is replaced by a shorter one if that says enough, else it is set aside
 * and not decided again for a while. All other decisions are committed.
 */
import type { Plain } from "@trainyard/contracts";
import { AllocationEndCause, Fault, type Occupation } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import { barestEnd } from "../allocation/end-texts.ts";
import type { Decision } from "./decision.ts";

/** The decision to try instead; null for none. */
export function shorter(decision: Decision, refusal: string): Decision | null {
  const { id, origin } = decision;
  if (decision.on === "allocation" && decision.command.kind === "end") {
    const command = barestEnd(decision.command);
    return { on: "allocation", id, origin, command };
  }
  if (decision.on === "allocation" && decision.command.kind === "grant") {
    const message = `the placement could not be recorded: ${refusal}`;
    const cause = AllocationEndCause.LAUNCH_FAILED;
    const fault = Fault.PLATFORM;
    const end = { kind: "end", cause, exits: [], endRecord: null, message, fault } as const;
    return { on: "allocation", id, origin, command: barestEnd(end) };
  }
  if (decision.on === "agent" && decision.command.kind === "return") {
    const occupations = decision.command.occupations.filter(holdsSlots);
    return { on: "agent", id, origin, command: { ...decision.command, occupations } };
  }
  return null;
}

/** A run without slots may be left out: it is killed in any case, since the agent names it. */
function holdsSlots({ slots }: Plain<Occupation>): boolean {
  return slots.length > 0;
}

export class SetAside {
  readonly #until = new Map<string, number>();

  add(decision: Decision, nowMs: number): void {
    for (const [name, untilMs] of this.#until) if (untilMs <= nowMs) this.#until.delete(name);
    this.#until.set(nameOf(decision), nowMs + limits.setAsideMs);
  }

  has(decision: Decision, nowMs: number): boolean {
    return nowMs < (this.#until.get(nameOf(decision)) ?? Number.NEGATIVE_INFINITY);
  }
}

function nameOf({ on, id, command }: Decision): string {
  return `${on} ${id} ${command.kind}`;
}
