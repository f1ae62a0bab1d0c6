/** Converts the filter of a request for log lines into that of the logs service. */
import type { Plain } from "@trainyard/contracts";
import { LogLevel, LogSource, type QueryLines } from "@trainyard/contracts/commands";
import { Problem } from "../../http/problem.ts";
import type { LineFilter } from "../../live/core/series.ts";

export const sourceNames: ReadonlyMap<LogSource, string> = new Map([
  [LogSource.STDOUT, "stdout"],
  [LogSource.STDERR, "stderr"],
  [LogSource.AGENT, "agent"],
]);

export const levelNames: ReadonlyMap<LogLevel, string> = new Map([
  [LogLevel.TRACE, "trace"],
  [LogLevel.DEBUG, "debug"],
  [LogLevel.INFO, "info"],
  [LogLevel.WARNING, "warning"],
  [LogLevel.ERROR, "error"],
  [LogLevel.CRITICAL, "critical"],
]);

type Conditions = Omit<Plain<QueryLines>, "task" | "after" | "before" | "limit" | "tail">;

/** Converts the filter. Throws a Problem of 400 for an unknown level or source. */
export function conditionsOf(asked: LineFilter): Conditions {
  const { run, nodeRank, rank, fromMs, untilMs, contains, matches, search } = asked;
  const source = numberOf(sourceNames, "source", asked.source);
  const level = numberOf(levelNames, "level", asked.level);
  return {
    ...(run === undefined ? {} : { run }),
    ...(nodeRank === undefined ? {} : { nodeRank }),
    ...(rank === undefined ? {} : { rank }),
    ...(source === undefined ? {} : { source }),
    ...(level === undefined ? {} : { level }),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(contains === "" ? {} : { contains }),
    ...(matches === "" ? {} : { matches }),
    ...(search === "" ? {} : { search }),
  };
}

function numberOf<Value>(
  names: ReadonlyMap<Value, string>,
  path: string,
  text: string,
): Value | undefined {
  if (text === "") return undefined;
  for (const [value, name] of names) if (name === text) return value;
  const detail = `is ${JSON.stringify(text)} and should be one of ${[...names.values()].join(", ")}`;
  throw new Problem(400, "invalid_request", `${path} ${detail}`, { problems: [{ path, detail }] });
}
