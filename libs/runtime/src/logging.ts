import { type Logger, pino, stdTimeFunctions } from "pino";

export type { Logger };

/** Structured lines on stdout. debug: nothing to do; info: state changed; warn: recovered; error: someone must look. */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
