/** The shown part of a log, as parameters of the page's address. */
import type { LogConditions } from "./source.ts";

export const searchKinds = ["text", "words", "regex"] as const;
export const levels = ["trace", "debug", "info", "warning", "error", "critical"] as const;
export const streams = ["stdout", "stderr", "agent"] as const;
export const times = ["own", "received"] as const;

export type LogSearch = {
  /** The text to search for; `by` is the kind of comparison (default: text). */
  readonly q?: string | undefined;
  readonly by?: (typeof searchKinds)[number] | undefined;
  readonly level?: (typeof levels)[number] | undefined;
  readonly stream?: (typeof streams)[number] | undefined;
  readonly rank?: number | undefined;
  readonly node?: number | undefined;
  readonly run?: number | undefined;
  /** Milliseconds since 1970: only lines whose own time is in [since, until). */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The cursor of the line that is shown and marked; `to` is the cursor of the last one if several are. */
  readonly line?: number | undefined;
  readonly to?: number | undefined;
  /** Long lines are wrapped; absent: they are cut at the window's edge. */
  readonly wrap?: true | undefined;
  /** Every state of a progress bar is shown; absent: only the last one. */
  readonly bars?: true | undefined;
  /** The time that is shown for a line; absent: the line's own. */
  readonly time?: (typeof times)[number] | undefined;
};

/** Reads the parameters for logs from an address. Invalid values are ignored. */
export function logSearchOf(search: Readonly<Record<string, unknown>>): LogSearch {
  const q = search["q"];
  const all = {
    q: typeof q === "string" || typeof q === "number" ? String(q) || undefined : undefined,
    by: oneOf(searchKinds, search["by"]),
    level: oneOf(levels, search["level"]),
    stream: oneOf(streams, search["stream"]),
    rank: count(search["rank"]),
    node: count(search["node"]),
    run: count(search["run"]),
    since: count(search["since"]),
    until: count(search["until"]),
    line: count(search["line"]),
    to: count(search["to"]),
    wrap: search["wrap"] === true ? true : undefined,
    bars: search["bars"] === true ? true : undefined,
    time: oneOf(times, search["time"]),
  } satisfies LogSearch;
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function oneOf<Value extends string>(values: readonly Value[], given: unknown): Value | undefined {
  return values.find((value) => value === given);
}

function count(given: unknown): number | undefined {
  return Number.isSafeInteger(given) && Number(given) >= 0 ? Number(given) : undefined;
}

/** The conditions that the server evaluates. */
export function conditionsOf(search: LogSearch): LogConditions {
  const { q, by = "text", level, stream, rank, node, run, since, until } = search;
  const field = { text: "contains", words: "search", regex: "matches" } as const;
  return {
    ...(q === undefined ? {} : { [field[by]]: q }),
    ...(level === undefined ? {} : { level }),
    ...(stream === undefined ? {} : { source: stream }),
    ...(rank === undefined ? {} : { rank }),
    ...(node === undefined ? {} : { nodeRank: node }),
    ...(run === undefined ? {} : { run }),
    ...(since === undefined ? {} : { fromMs: since }),
    ...(until === undefined ? {} : { untilMs: until }),
  };
}

/** The same view of the log without its conditions: the line in its context. */
export function withoutConditions({ line, to, wrap, bars, time }: LogSearch): LogSearch {
  return logSearchOf({ line, to, wrap, bars, time });
}
