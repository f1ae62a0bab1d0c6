/** Analyses of an experiment's search, computed from its events. */
import type { Plain } from "@trainyard/contracts";
import type {
  GetBestSoFarResponse,
  GetImportanceResponse,
  GetParetoFrontResponse,
} from "@trainyard/contracts/api";
import { trialId } from "@trainyard/kernel";
import { bestSoFar, importancesOf, paretoTrials, type SearchRecord } from "@trainyard/search";
import type { Backend } from "../../backend.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import { SearchRecords } from "./search-records.ts";

export function analysisHandlers(backend: Backend) {
  const records = new SearchRecords(backend.parts.log);
  const recordOf = async (experiment: string): Promise<SearchRecord> => {
    await backend.get("experiment", experiment);
    return records.of(experiment);
  };
  return {
    getImportance: async ({ experiment }) => shownImportance(await recordOf(experiment)),
    getParetoFront: async ({ experiment, all }) =>
      shownPareto(experiment, await recordOf(experiment), all),
    getBestSoFar: async ({ experiment }) => shownBest(experiment, await recordOf(experiment)),
  } satisfies Partial<UnaryHandlers>;
}

function shownImportance(record: SearchRecord): Plain<GetImportanceResponse> {
  const { trials, needed, top, items } = importancesOf(record);
  return { trials, trialsNeeded: needed, trialsBest: top, items: [...items] };
}

function shownBest(experiment: string, record: SearchRecord): Plain<GetBestSoFarResponse> {
  const { metric, smallerIsBetter } = record;
  const items = bestSoFar(record).map((best) => ({
    ...best,
    trial: trialId(experiment, best.trial),
  }));
  return { metric, smallerIsBetter, items };
}

function shownPareto(
  experiment: string,
  record: SearchRecord,
  all: boolean,
): Plain<GetParetoFrontResponse> {
  const { objectives, rated, front } = paretoTrials(record);
  const onFront = new Set(front);
  const items = (all ? rated : front).map((one) => ({
    trial: trialId(experiment, one.trial),
    values: [...one.values],
    onFront: onFront.has(one),
    hyperparameters: one.hyperparameters,
  }));
  return { objectives: [...objectives], trials: rated.length, items };
}
