/** The matches of log policies in a trial's log, which its next steps depend on. */
import type { AnyEvent } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

export type LogSignals = {
  /**
   * The runs whose failure a policy makes final, in order: only the latest, up to the limit. Failures of later runs are
   * final too.
   */
  readonly finals: readonly { readonly run: number; readonly policy: string }[];
  /** The agents on which the trial's runs are not placed: only the latest, up to the limit. */
  readonly excluded: readonly string[];
};

export const initialLogSignals: LogSignals = { finals: [], excluded: [] };

export function evolveLogSignals(state: LogSignals, event: AnyEvent): LogSignals {
  if (event.type !== "LogPolicyMatched") return state;
  const { action, run, policy, agent } = event.data;
  if (action === "cancel_retries") {
    // The log of an earlier run may arrive later.
    if (state.finals.some((one) => one.run === run)) return state;
    const finals = [...state.finals, { run, policy }].sort((a, b) => a.run - b.run);
    return { ...state, finals: finals.slice(-limits.finalRunsMax) };
  }
  if (action !== "exclude_node" || agent === "" || state.excluded.includes(agent)) return state;
  return { ...state, excluded: [...state.excluded, agent].slice(-limits.excludedAgentsMax) };
}
