import { systemClock } from "@trainyard/kernel/system-clock";
import type { Clock } from "@trainyard/kernel";
import {
  type DestinationStream,
  type Logger,
  type LoggerOptions,
  pino,
  stdTimeFunctions,
} from "pino";
import { RetryLines } from "./readiness/retry-lines.ts";

export type { Logger };

const warnLevel = 40;

type LoggerOverrides = {
  readonly clock?: Pick<Clock, "monotonicMs">;
  readonly stream?: DestinationStream;
};

/**
 * Creates a logger of structured lines on stdout. Levels: debug: nothing to do; info: a state changed; warn: recovered;
 * error: an operator must act.
 */
export function createLogger(
  service: string,
  level: string,
  { clock = systemClock, ...out }: LoggerOverrides = {},
): Logger {
  const retries = new RetryLines(clock);
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: {
      logMethod([first, message, ...more], method, ofLevel) {
        const isRetry = ofLevel >= warnLevel && typeof first === "object" && message !== undefined;
        const fields = isRetry ? retries.fieldsOf(message, { ...(first as object) }) : first;
        if (fields !== null) method.apply(this, [fields as string, message, ...more]);
      },
    },
  };
  return out.stream === undefined ? pino(options) : pino(options, out.stream);
}
