/**
 * The stream logsignal-<trial> records which log policies the trial's lines have matched. It has one event per policy
 * and node of a run, for the first matching line: a process that prints the same error ten thousand times adds one
 * event.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

type Matched = EventData<"LogPolicyMatched">;

export type LogSignalCommand = { readonly kind: "match"; readonly matched: Matched };

/** The keys of the recorded matches. */
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
