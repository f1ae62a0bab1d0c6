import type { Aggregate } from "@trainyard/runtime";
import {
  type LogSignal,
  type LogSignalCommand,
  type LogSignalEvent,
  logSignal,
} from "./core/log-signal.ts";

export const logSignals: Aggregate<LogSignal, LogSignalCommand, LogSignalEvent> = {
  name: "log-signal",
  category: "logsignal",
  decider: logSignal,
};
