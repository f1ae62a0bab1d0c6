/** The lines of a trial's log that its next steps depend on: matches of the log policies. */
import type { AnyEvent } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

export type LogSignals = {
  /**
   * From the first of these runs on failures are final, in the order of the runs; the latest, as many as the limits
   * say.
   */
  readonly finals: readonly { readonly run: number; readonly policy: string }[];
  /** Where the trial's runs are not placed any more; the latest, as many as the limits say. */
  readonly excluded: readonly string[];
};

export const initialLogSignals: LogSignals = { finals: [], excluded: [] };

export function evolveLogSignals(state: LogSignals, event: AnyEvent): LogSignals {
  if (event.type !== "LogPolicyMatched") return state;
  const { action, run, policy, agent } = event.data;
  if (action === "cancel_retries") {
    // The lines of an earlier run may come later.
    if (state.finals.some((one) => one.run === run)) return state;
    const finals = [...state.finals, { run, policy }].sort((a, b) => a.run - b.run);
    return { ...state, finals: finals.slice(-limits.finalRunsMax) };
  }
  if (action !== "exclude_node" || agent === "" || state.excluded.includes(agent)) return state;
  return { ...state, excluded: [...state.excluded, agent].slice(-limits.excludedAgentsMax) };
}
