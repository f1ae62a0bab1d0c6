/**
 * The stream logsignal-<trial>: which log policies lines of the trial have matched. One event for a policy and a node
 * of a run, for the first line: a process that prints the same error ten thousand times says it once.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

type Matched = EventData<"LogPolicyMatched">;

export type LogSignalCommand = { readonly kind: "match"; readonly matched: Matched };

/** The keys of what was recorded. */
export type LogSignal = { readonly known: ReadonlySet<string> };

export const signalKey = ({
  run,
  nodeRank,
  policy,
  action,
}: Pick<Matched, "run" | "nodeRank" | "policy" | "action">): string =>
  JSON.stringify([run, nodeRank, policy, action]);

export const logSignal: Decider<LogSignal, LogSignalCommand, EventOf<"LogPolicyMatched">> = {
  initial: { known: new Set() },

  decide({ known }, { matched }) {
    return known.has(signalKey(matched)) ? [] : [{ type: "LogPolicyMatched", data: matched }];
  },

  evolve({ known }, { data }) {
    return { known: new Set([...known, signalKey(data)]) };
  },
};
