import type { Aggregate } from "@trainyard/runtime";
import type { EventOf } from "@trainyard/contracts";
import { type LogSignal, type LogSignalCommand, logSignal } from "./core/log-signal.ts";

export const logSignals: Aggregate<LogSignal, LogSignalCommand, EventOf<"LogPolicyMatched">> = {
  name: "log-signal",
  category: "logsignal",
  decider: logSignal,
};
