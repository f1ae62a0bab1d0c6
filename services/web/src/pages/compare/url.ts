/**
 * The URL of a comparison: what is compared and how it is shown, so that a link shows what its sender saw. It stays
 * below `linkMax` characters at a hundred trials, because chats and mail programs cut longer ones.
 */

/** Characters of the search part of a link. */
export const linkMax = 1_900;

export const tabIds = ["curves", "values", "code"] as const;
export type TabId = (typeof tabIds)[number];

/** How trials are grouped: by their experiment, or what the experiment or the trial has. */
export type GroupBy =
  | { readonly kind: "experiment" | "label" | "searcher" }
  | { readonly kind: "hyperparameter"; readonly name: string };

export type CompareSearch = {
  /** The sources, joined by `~`; absent: nothing is compared yet. */
  readonly of?: string | undefined;
  /** The open tab; absent: the curves. */
  readonly tab?: TabId | undefined;
  /** The groups, as `groupText` writes them; absent: a line for each trial. */
  readonly by?: string | undefined;
  /** The x axis: time or a metric; absent: step. */
  readonly x?: string | undefined;
  /** The metrics with a chart, as `metricsText` writes them; absent: all. */
  readonly metrics?: string | undefined;
  /** The zoomed range of x: "10..250.5". */
  readonly zoom?: string | undefined;
  /** The smoothing of the curves in percent. */
  readonly smooth?: number | undefined;
  /** The trial with which the others are compared; absent: the first. */
  readonly base?: string | undefined;
  /** The experiment whose code is shown beside that of the base. */
  readonly other?: string | undefined;
  /** The trial that the inspector shows, and whose line is isolated. */
  readonly at?: string | undefined;
  /** The order of the table: a row's name, optionally followed by `desc`. */
  readonly sort?: string | undefined;
  /** Equal rows of the table are shown too. */
  readonly all?: true | undefined;
  /** The rows of the table; absent: trials if there are many. */
  readonly rows?: "values" | "trials" | undefined;
};

const texts = ["of", "by", "x", "metrics", "zoom", "base", "other", "at", "sort"] as const;

/** Reads the search and leaves out invalid values, so that an old link still opens the page. */
export function readSearch(given: Readonly<Record<string, unknown>>): CompareSearch {
  const search: Record<string, string | number | true> = {};
  for (const name of texts) {
    const value = given[name];
    // The router reads text that looks like a number as a number.
    if (typeof value === "number") search[name] = String(value);
    if (typeof value === "string" && value.trim() !== "") search[name] = value;
  }
  if (given["all"] === true) search["all"] = true;
  if (given["rows"] === "values" || given["rows"] === "trials") search["rows"] = given["rows"];
  const tab = tabIds.find((id) => id === given["tab"]);
  if (tab !== undefined && tab !== "curves") search["tab"] = tab;
  const smooth = Number(given["smooth"]);
  if (Number.isInteger(smooth) && smooth > 0 && smooth < 100) search["smooth"] = smooth;
  return search as CompareSearch;
}

/** Changes the search. A part that makes the link too long is left out; the sources never are. */
export function changedSearch(
  search: CompareSearch,
  change: Partial<CompareSearch>,
): CompareSearch {
  const next = readSearch({ ...search, ...change });
  const droppable = ["metrics", "sort", "by", "x"] as const;
  const kept: Record<string, unknown> = { ...next };
  for (const name of droppable) {
    if (linkLength(kept) <= linkMax) break;
    delete kept[name];
  }
  return kept as CompareSearch;
}

/** Reports whether a change fits into the link. */
export const fits = (search: CompareSearch, change: Partial<CompareSearch>): boolean =>
  linkLength({ ...search, ...change }) <= linkMax;

/** The length of the search part of the link, with the quotes that the router adds. */
export function linkLength(search: Readonly<Record<string, unknown>>): number {
  const given = Object.entries(search).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, `"${String(value)}"`])).toString()
    .length;
}

export function readGroupBy(text: string | undefined): GroupBy | null {
  if (text === "experiment" || text === "label" || text === "searcher") return { kind: text };
  const [, name = ""] = /^hyperparameter:(.+)$/.exec(text ?? "") ?? [];
  return name === "" ? null : { kind: "hyperparameter", name };
}

export const groupText = (by: GroupBy): string =>
  by.kind === "hyperparameter" ? `hyperparameter:${by.name}` : by.kind;

export type MetricName = { readonly group: string; readonly name: string };

/** The text that names a metric: "validation loss". No group has a space. */
export const metricText = ({ group, name }: MetricName): string => `${group} ${name}`;

/** Returns the chosen metrics; null if none is chosen, which shows all. */
export function readMetrics(text: string | undefined): readonly string[] | null {
  const parts = (text ?? "")
    .split("~")
    .filter((part) => part !== "")
    .map(decoded);
  const names = [...new Set(parts)].filter((part) => /^\S+ ./.test(part));
  return names.length === 0 ? null : names;
}

export function metricsText(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.map((name) => name.replace(/[%~]/g, (sign) => signs[sign] ?? sign)).join("~");
}

const signs: Readonly<Record<string, string>> = { "%": "%25", "~": "%7E" };

/** A text that is not encoded stays as it is. */
function decoded(text: string): string {
  return text.replace(/%25|%7E/g, (code) => (code === "%25" ? "%" : "~"));
}
