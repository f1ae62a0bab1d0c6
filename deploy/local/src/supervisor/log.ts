import { writeSync } from "node:fs";
import { systemClock } from "@trainyard/kernel/system-clock";

/** The supervisor's own log: one JSON object a line, as the services write theirs. */
export type SupervisorLog = (
  level: "info" | "warn" | "error",
  message: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

export const writeLog: SupervisorLog = (level, message, fields = {}) => {
  const time = new Date(systemClock.nowMs()).toISOString();
  const line = { level, time, service: "supervisor", ...fields, msg: message };
  try {
    writeSync(1, `${JSON.stringify(line)}\n`);
  } catch {
    // On a full disk the line is lost. The cluster must not end for it.
  }
};
