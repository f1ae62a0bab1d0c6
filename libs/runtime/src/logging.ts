import { type Logger, pino, stdTimeFunctions } from "pino";

export type { Logger };

/**
 * Creates a logger of structured lines on stdout. Levels: debug: nothing to do; info: a state changed; warn: recovered;
 * error: an operator must act.
 */
export function createLogger(service: string, level: string): Logger {
  return pino({
    level,
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
