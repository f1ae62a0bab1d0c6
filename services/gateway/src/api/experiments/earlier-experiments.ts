/**
 * Checks the earlier experiments that a configuration names: they must exist, and have the same metric and direction.
 */
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { FieldProblem } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { placeOf } from "../shown.ts";

export async function refuseForeignExperiments(
  backend: Backend,
  { searcher }: NormalisedConfig,
  { rights }: Pick<RequestContext, "rights">,
): Promise<void> {
  const problems: FieldProblem[] = [];
  for (const [index, experiment] of (searcher.warm_start?.experiments ?? []).entries()) {
    const found = await backend.find("experiment", String(experiment));
    const isThere = found !== undefined && rights.has("experiment_view", placeOf(found).workspace);
    const detail = !isThere
      ? `is ${experiment}, and there is no such experiment`
      : whyOther(await searcherOf(backend, found.id), searcher, experiment);
    if (detail !== null)
      problems.push({ path: `searcher.warm_start.experiments[${index}]`, detail });
  }
  if (problems.length === 0) return;
  const sentences = problems.map(({ path, detail }) => `${path} ${detail}`).join("; ");
  throw new Problem(400, "invalid_config", `the configuration is not valid: ${sentences}`, {
    problems,
  });
}

async function searcherOf(backend: Backend, experiment: string): Promise<SearcherConfig> {
  return recordedConfig(await backend.configOf(experiment)).searcher;
}

/** Returns why the trials of the other search cannot be compared with this search's; null if they can. */
function whyOther(theirs: SearcherConfig, mine: SearcherConfig, experiment: number): string | null {
  if (theirs.metric !== mine.metric) {
    return `is ${experiment}, which searches by ${theirs.metric} and not by ${mine.metric}`;
  }
  const recorded = metricsOf(theirs);
  const missing = metricsOf(mine).find((metric) => !recorded.includes(metric));
  if (missing !== undefined) return `is ${experiment}, which does not search by ${missing} too`;
  if (theirs.smaller_is_better === mine.smaller_is_better) return null;
  const better = theirs.smaller_is_better ? "smaller" : "larger";
  return `is ${experiment}, for which a ${better} ${mine.metric} is better`;
}

/** Returns all metrics by which a search compares its trials. */
function metricsOf(searcher: SearcherConfig): readonly string[] {
  const objectives = "objectives" in searcher ? (searcher.objectives ?? []) : [];
  return [searcher.metric, ...objectives.map(({ metric }) => metric)];
}
