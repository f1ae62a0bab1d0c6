/** The decisions of which agents get runs, and whose fault the failures of runs are. */
import { AllocationEndCause, Fault } from "@trainyard/contracts/events";
import type { AllocationCommand } from "../allocation/state.ts";
import { culpritOf, hasFailed, judge, mayBeHosts, upText } from "../cluster/judged.ts";
import { isOfPlatform } from "../cluster/recent-failures.ts";
import type { Allocation } from "../cluster/state.ts";
import { trustDecision } from "../cluster/trust.ts";
import { hasOtherPlace } from "../pool/check-place.ts";
import type { Decision } from "./decision.ts";
import type { Round } from "./gather.ts";

/** Decisions about agents on which runs have failed or done well. */
export function trustDecisions({ cluster, deadlines, nowMs }: Round): readonly Decision[] {
  const { troubled, distrusted } = cluster.trusts;
  return [...new Set([...troubled, ...distrusted])].flatMap((id): readonly Decision[] => {
    const agent = cluster.agents.get(id);
    const isProven = deadlines.isProven(id, nowMs);
    const proven = isProven ? ({ kind: "trust", reason: upText } as const) : null;
    const command = proven ?? (agent === undefined ? null : trustDecision(agent.trust));
    return command === null ? [] : [{ on: "agent", id, origin: null, command }];
  });
}

type End = AllocationCommand & { readonly kind: "end" };

/** Names the fault of each end of one round; ends of the same round count as failures of the same minute. */
export class Faults {
  readonly #cluster: Round["cluster"];
  readonly #timeMs: number;
  #recent;

  constructor({ cluster, deadlines, nowMs }: Pick<Round, "cluster" | "deadlines" | "nowMs">) {
    this.#cluster = cluster;
    this.#timeMs = deadlines.foldMs(nowMs);
    this.#recent = cluster.trusts.recent;
  }

  named(run: Allocation, command: AllocationCommand): AllocationCommand {
    if (command.kind !== "end") return command;
    return this.#withFault(run, { ...command, ...this.#launchFailureOf(run, command) });
  }

  /** Says of a launch on hosts that lack something for good whether another host is left. */
  #launchFailureOf({ resources }: Allocation, { launchFailure }: End): Partial<End> {
    if (launchFailure?.lasting !== true) return {};
    if (hasOtherPlace(this.#cluster, resources, launchFailure.agents)) return {};
    return { launchFailure: { ...launchFailure, everywhere: true } };
  }

  #withFault(run: Allocation, command: End): AllocationCommand {
    const fault = this.#faultOf(run, command);
    return fault === null ? command : { ...command, fault };
  }

  /** Null for an end that is no failure. */
  #faultOf(run: Allocation, command: End): Fault | null {
    const { endRecord, cause, launchFailure, exits, message } = command;
    if (cause === AllocationEndCause.AGENT_LOST) return Fault.HOST;
    if (cause === AllocationEndCause.LAUNCH_FAILED) {
      return launchFailure?.platformAway === true ? Fault.PLATFORM : Fault.HOST;
    }
    const end = { cause, exits, message, ...(endRecord === null ? {} : { endRecord }) };
    if (!hasFailed(end)) return null;
    if (!mayBeHosts(run, end)) return Fault.SCRIPT;
    const moment = { recent: this.#recent, timeMs: this.#timeMs };
    const { trusts, recent } = judge(this.#cluster, run, end, moment);
    this.#recent = recent;
    if (isOfPlatform(recent)) return Fault.PLATFORM;
    const agent = culpritOf(end) ?? "";
    const isJudged = this.#cluster.trusts.cooling.has(agent) || trusts.get(agent)?.isDue === true;
    return isJudged ? Fault.HOST : Fault.SCRIPT;
  }
}
