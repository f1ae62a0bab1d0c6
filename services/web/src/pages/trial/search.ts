/** The address of a trial's page: the tab and its parameters. */
import { type LogSearch, logSearchOf } from "../../components/log-view/log-search.ts";

export const tabIds = [
  "overview",
  "validations",
  "runs",
  "checkpoints",
  "profile",
  "logs",
] as const;

export type TrialSearch = LogSearch & {
  /** The open tab; absent: the overview. */
  readonly tab?: (typeof tabIds)[number] | undefined;
  /** The range of steps that the curves show. */
  readonly zoom?: readonly [number, number] | undefined;
  /** The shown validation: its run and its key. */
  readonly point?: string | undefined;
  /** The shown checkpoint. */
  readonly checkpoint?: string | undefined;
};

export function trialSearchOf(search: Readonly<Record<string, unknown>>): TrialSearch {
  const tab = tabIds.find((id) => id === search["tab"]);
  const zoom = rangeOf(search["zoom"]);
  const { point, checkpoint } = search;
  return {
    ...(tab === undefined || tab === "overview" ? {} : { tab }),
    ...(zoom === null ? {} : { zoom }),
    ...(typeof point === "string" ? { point } : {}),
    ...(typeof checkpoint === "string" ? { checkpoint } : {}),
    ...logSearchOf(search),
  };
}

function rangeOf(given: unknown): readonly [number, number] | null {
  if (!Array.isArray(given)) return null;
  const [from, to] = given as readonly unknown[];
  if (typeof from !== "number" || typeof to !== "number") return null;
  return from < to ? [from, to] : null;
}
