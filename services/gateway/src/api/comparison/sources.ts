/** The sources of a comparison: their texts, and the trials that they name. */
import {
  type ComparisonSource,
  limits,
  parseComparisonSource,
  rangesSize,
  trialsOfRanges,
} from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { comparison } from "../../read-model/core/lists/filter.ts";
import { trialList } from "../../read-model/core/lists/lists.ts";
import type { ExperimentDocument } from "../../read-model/core/views/documents.ts";
import { rowsPage, wholeList } from "../lists.ts";

export type NamedSource = { readonly text: string; readonly source: ComparisonSource };

const { comparedTrialsMax } = limits;

/** All trials, in the order of their numbers. */
const wholePage = { ...wholeList, pageToken: "" };

const refused = (detail: string): Problem => new Problem(400, "invalid_request", detail);

/** Reads sources. Throws a Problem of 400 for a text that is none, and for one that alone names too many trials. */
export function readSources(texts: readonly string[]): readonly NamedSource[] {
  if (texts.length === 0)
    throw refused("sources: name at least one trial, such as 12.3 or 12.best");
  if (texts.length > comparedTrialsMax) {
    throw refused(`a comparison takes ${comparedTrialsMax} sources; these are ${texts.length}`);
  }
  return texts.map((text) => {
    const source = parseComparisonSource(text);
    if (source === null) {
      const shown = JSON.stringify(text.slice(0, 60));
      const forms = "12.3, 12.1-3.7, 12.best5 or 12.all";
      throw refused(`sources: ${shown} is no source of a comparison; a source is like ${forms}`);
    }
    if (source.kind === "trials") refuseMany(text, rangesSize(source.ranges));
    if (source.kind === "best") refuseMany(text, source.count);
    return { text, source };
  });
}

function refuseMany(text: string, count: number): void {
  if (count <= comparedTrialsMax) return;
  const shown = text.slice(0, 60);
  throw refused(`a comparison takes ${comparedTrialsMax} trials; ${shown} names ${count}`);
}

type Wanted = NamedSource & { readonly experiment: ExperimentDocument };

/**
 * Returns the ids of a source's trials, or a sentence that says why it has none. The ids of named trials are returned
 * whether they exist or not.
 */
export async function trialsOfSource(
  backend: Backend,
  { text, source, experiment }: Wanted,
  context: RequestContext,
): Promise<{ readonly ids: readonly string[] } | { readonly missing: string }> {
  const { id: scope, metric } = experiment;
  if (source.kind === "trials") return { ids: trialsOfRanges(source.experiment, source.ranges) };
  if (source.kind === "all") {
    refuseMany(text, experiment.trials);
    const page = await rowsPage(backend, trialList, wholePage, { context, scope });
    const ids = page.items.map(({ id }) => id);
    return ids.length === 0 ? { missing: `experiment ${scope} has no trial yet` } : { ids };
  }
  const direction = experiment.smallerIsBetter ? "asc" : "desc";
  const best = { ...wholePage, pageSize: source.count, orderBy: `best_value ${direction}` };
  // Failed trials do not count, as for the best trial of the experiment.
  const conditions = [comparison("state", "!=", "ERROR")];
  const { items } = await rowsPage(backend, trialList, best, { context, scope, conditions });
  const ids = items.flatMap(({ id, bestValue }) => (bestValue === undefined ? [] : [id]));
  if (ids.length > 0) return { ids };
  return { missing: `no trial of experiment ${scope} has a value of ${metric} yet` };
}
