/** Analyses of an experiment's search. */
import type { Backend } from "../../backend.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import type { AnalysisName, AnalysisOf } from "./search-analyses.ts";

export function analysisHandlers(backend: Backend) {
  const of = async <Name extends AnalysisName>(
    experiment: string,
    name: Name,
  ): Promise<AnalysisOf<Name>> => {
    await backend.get("experiment", experiment);
    return backend.parts.analyses.of(experiment, name);
  };
  return {
    getImportance: ({ experiment }) => of(experiment, "importance"),
    getParetoFront: ({ experiment, all }) => of(experiment, all ? "rated" : "front"),
    getBestSoFar: ({ experiment }) => of(experiment, "best"),
  } satisfies Partial<UnaryHandlers>;
}
