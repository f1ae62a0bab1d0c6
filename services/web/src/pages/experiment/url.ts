/** The URL of an experiment's page: a link shows what its sender saw. */
import { type LogSearch, logSearchOf } from "../../components/log-view/log-search.ts";

export { readZoom, zoomText } from "../../components/zoom-text.ts";

/** The search parameters, including the conditions of the logs. */
export type ExperimentSearch = LogSearch & {
  /** The open tab; absent: the first. */
  readonly tab?: string | undefined;
  /** The metrics of the Overview's curves, each after its group: "validation loss~training loss". */
  readonly metrics?: string | undefined;
  /** The metric of the curves above the trials: "validation loss". */
  readonly metric?: string | undefined;
  /** The x axis of the curves: time or a metric; absent: step. */
  readonly x?: string | undefined;
  /** The zoomed range of x: "10..250.5". */
  readonly zoom?: string | undefined;
  /** The curves that are drawn if not all are: latest or first; absent: best. */
  readonly drawn?: string | undefined;
  /** The plot over the table of trials: scatter or heat; absent: parallel coordinates. */
  readonly plot?: string | undefined;
  /** The hyperparameter of the heat map's x axis; absent: the first. */
  readonly across?: string | undefined;
  /** The hyperparameter of the heat map's y axis; absent: another one than that of the x axis. */
  readonly up?: string | undefined;
  /** Numbers of selected trials: "3,7". */
  readonly trials?: string | undefined;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly columns?: string | undefined;
  /** The shown file of the code. */
  readonly file?: string | undefined;
  /** The experiment that the configuration is compared with. */
  readonly other?: string | undefined;
  /** The checkpoint that the inspector shows. */
  readonly checkpoint?: string | undefined;
  /** Whether deleted checkpoints are listed: "shown"; absent: they are not. */
  readonly deleted?: string | undefined;
  /** The shown version of the search; absent: the latest. */
  readonly version?: number | undefined;
  /** The number of the trial that the search view explains. */
  readonly trial?: number | undefined;
};

const texts = [
  "tab",
  "metrics",
  "metric",
  "x",
  "zoom",
  "drawn",
  "plot",
  "across",
  "up",
  "trials",
  "filter",
  "sort",
  "columns",
  "file",
  "other",
  "checkpoint",
  "deleted",
] as const satisfies readonly (keyof ExperimentSearch)[];

const numbers = ["version", "trial"] as const satisfies readonly (keyof ExperimentSearch)[];

/** Reads the search and leaves out invalid values, so that an old link still opens the page. */
export function readSearch(search: Readonly<Record<string, unknown>>): ExperimentSearch {
  const given = (name: string): string => {
    const value = search[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : "";
  };
  const own = Object.fromEntries([
    ...texts.flatMap((name) => (given(name) === "" ? [] : [[name, given(name)]])),
    ...numbers.flatMap((name) =>
      /^[1-9]\d{0,8}$/.test(given(name)) ? [[name, Number(given(name))]] : [],
    ),
  ]) as ExperimentSearch;
  return { ...logSearchOf(search), ...own };
}

export function readTrials(text: string | undefined): ReadonlySet<number> {
  const found = (text ?? "").split(",").map(Number);
  return new Set(found.filter((number) => Number.isSafeInteger(number) && number > 0));
}

export function trialsText(trials: ReadonlySet<number>): string | undefined {
  return trials.size === 0 ? undefined : [...trials].toSorted((a, b) => a - b).join(",");
}
