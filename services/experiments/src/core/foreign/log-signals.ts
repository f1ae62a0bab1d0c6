/** What lines of a trial's log have said that the trial's next steps depend on: the log policies that matched. */
import type { AnyEvent } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

export type LogSignals = {
  /** From this run on failures are final; null as long as they are not. */
  readonly final: { readonly run: number; readonly policy: string } | null;
  /** Where the trial's runs are not placed any more; the latest, as many as the limits say. */
  readonly excluded: readonly string[];
};

export const initialLogSignals: LogSignals = { final: null, excluded: [] };

export function evolveLogSignals(state: LogSignals, event: AnyEvent): LogSignals {
  if (event.type !== "LogPolicyMatched") return state;
  const { action, run, policy, agent } = event.data;
  if (action === "cancel_retries") {
    // The lines of an earlier run may come later.
    const isEarlier = state.final === null || run < state.final.run;
    return isEarlier ? { ...state, final: { run, policy } } : state;
  }
  if (action !== "exclude_node" || agent === "" || state.excluded.includes(agent)) return state;
  return { ...state, excluded: [...state.excluded, agent].slice(-limits.excludedAgentsMax) };
}
