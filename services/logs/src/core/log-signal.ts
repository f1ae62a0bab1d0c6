/**
 * The stream logsignal-<trial or task> records which log policies and which patterns of webhooks the lines have
 * matched. It has one event per policy or webhook and node of a run, for the first matching line: a process that prints
 * the same error ten thousand times adds one event.
 */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

type OfPolicy = EventData<"LogPolicyMatched">;
type OfWebhook = EventData<"LogPatternMatched">;

export type LogSignalEvent = EventOf<"LogPolicyMatched" | "LogPatternMatched">;

export type LogSignalCommand =
  | { readonly kind: "match"; readonly matched: OfPolicy }
  | { readonly kind: "matchWebhook"; readonly matched: OfWebhook };

/** The keys of the recorded matches. */
export type LogSignal = { readonly known: ReadonlySet<string> };

export const signalKey = ({
  run,
  nodeRank,
  policy,
  action,
}: Pick<OfPolicy, "run" | "nodeRank" | "policy" | "action">): string =>
  JSON.stringify([run, nodeRank, policy, action]);

/** No policy has this key: it has a part less. */
export const webhookKey = ({
  run,
  nodeRank,
  subscription,
}: Pick<OfWebhook, "run" | "nodeRank" | "subscription">): string =>
  JSON.stringify([run, nodeRank, subscription]);

export const logSignal: Decider<LogSignal, LogSignalCommand, LogSignalEvent> = {
  initial: { known: new Set() },

  decide({ known }, command) {
    const event: LogSignalEvent =
      command.kind === "match"
        ? { type: "LogPolicyMatched", data: command.matched }
        : { type: "LogPatternMatched", data: command.matched };
    return known.has(keyOf(event)) ? [] : [event];
  },

  evolve({ known }, event) {
    return { known: new Set([...known, keyOf(event)]) };
  },
};

const keyOf = (event: LogSignalEvent): string =>
  event.type === "LogPolicyMatched" ? signalKey(event.data) : webhookKey(event.data);
