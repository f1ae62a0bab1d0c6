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
  /** The clock by which expected retries are shortened; without it all lines are logged in full. */
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
  { clock, stream }: LoggerOverrides = {},
): Logger {
  const retries = clock === undefined ? null : new RetryLines(clock);
  const options: LoggerOptions = {
    level,
    base: { service, pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: {
      logMethod([first, message, ...more], method, ofLevel) {
        const isRetry =
          retries !== null &&
          ofLevel >= warnLevel &&
          typeof first === "object" &&
          message !== undefined;
        const fields = isRetry ? retries.fieldsOf(message, { ...(first as object) }) : first;
        if (fields !== null) method.apply(this, [fields as string, message, ...more]);
      },
    },
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}
