import type { Plain } from "@trainyard/contracts";
import type {
  CommandResponse,
  CreateExperimentRequest,
  Experiment,
  GetExperimentRequest,
  GetTrialRequest,
  ListExperimentsRequest,
  ListTrialsRequest,
} from "@trainyard/contracts/api";
import {
  AcceptedSchema,
  ActivateExperimentSchema,
  PauseExperimentSchema,
  StopExperimentSchema,
} from "@trainyard/contracts/commands";
import { StopKind } from "@trainyard/contracts/events";
import { isExperimentId } from "@trainyard/kernel";
import type { StreamFold } from "@trainyard/runtime";
import {
  evolveSearchClient,
  initialSearchClient,
  type SearchClient,
  searchWaitsFor,
} from "../core/search-client.ts";
import { notFound } from "../http/problem.ts";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "../shell/backend.ts";
import { createExperiment } from "./create-experiment.ts";
import { pageOf, pageSize, readPageToken } from "./paging.ts";
import { shownExperiment, shownTrial } from "./shown.ts";
import { lastLines } from "./trial-logs.ts";
import { reportedProgress } from "./trial-metrics.ts";

type Named = { readonly experiment: string };

export function experimentHandlers(backend: Backend, checkpointDir: string): Handlers["unary"] {
  return {
    "ExperimentService.CreateExperiment": (
      request: Plain<CreateExperimentRequest>,
      context: RequestContext,
    ) => createExperiment(backend, checkpointDir, request, context),
    "ExperimentService.ListExperiments": (request: Plain<ListExperimentsRequest>) =>
      listExperiments(backend, request),
    "ExperimentService.GetExperiment": async (request: Plain<GetExperimentRequest>) => {
      await backend.reachText(request.minPosition);
      return getExperiment(backend, request.experiment);
    },
    "ExperimentService.ListTrials": (request: Plain<ListTrialsRequest>) =>
      listTrials(backend, request),
    "ExperimentService.GetTrial": (request: Plain<GetTrialRequest>, context: RequestContext) =>
      getTrial(backend, request, context),
    ...commandHandlers(backend),
  };
}

const searchClients: StreamFold<SearchClient> = {
  name: "search-client",
  category: "search",
  initial: initialSearchClient,
  evolve: evolveSearchClient,
};

async function getExperiment(backend: Backend, id: string): Promise<Plain<Experiment>> {
  const experiment = shownExperiment(await backend.get("experiment", id));
  if (experiment.searcher !== "custom" || experiment.endedAtMs !== undefined) return experiment;
  const { state } = await backend.parts.executor.cache.load(searchClients, id);
  return { ...experiment, waitsFor: searchWaitsFor(state) };
}

function commandHandlers(backend: Backend): Handlers["unary"] {
  const answered = async (
    experiment: string,
    ask: () => Promise<{ readonly position: number }>,
  ): Promise<Plain<CommandResponse>> => {
    if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
    const { position } = await ask();
    await backend.reach(position);
    const doc = await backend.get("experiment", experiment);
    return { position: String(position || backend.position), experiment: shownExperiment(doc) };
  };
  const stop =
    (kind: StopKind, reason: string) =>
    ({ experiment }: Named, context: RequestContext) =>
      answered(experiment, () =>
        backend.command(
          "experiments",
          StopExperimentSchema,
          { experiment, kind, reason },
          AcceptedSchema,
          context,
        ),
      );
  return {
    "ExperimentService.ActivateExperiment": ({ experiment }: Named, context: RequestContext) =>
      answered(experiment, () =>
        backend.command(
          "experiments",
          ActivateExperimentSchema,
          { experiment },
          AcceptedSchema,
          context,
        ),
      ),
    "ExperimentService.PauseExperiment": ({ experiment }: Named, context: RequestContext) =>
      answered(experiment, () =>
        backend.command(
          "experiments",
          PauseExperimentSchema,
          { experiment },
          AcceptedSchema,
          context,
        ),
      ),
    "ExperimentService.CancelExperiment": stop(StopKind.CANCEL, "canceled by a user"),
    "ExperimentService.KillExperiment": stop(StopKind.KILL, "killed by a user"),
  };
}

async function listExperiments(backend: Backend, request: Plain<ListExperimentsRequest>) {
  await backend.reachText(request.minPosition);
  const size = pageSize(request.pageSize);
  const after = readPageToken(request.pageToken);
  const position = backend.position;
  const rows = await backend.parts.documents.list(backend.parts.pool, "experiment", {
    limit: size + 1,
    newestFirst: true,
    ...(after === undefined ? {} : { after }),
  });
  const page = pageOf(rows, size);
  const items = page.rows.map(({ doc }) => shownExperiment(doc));
  return { items, nextPageToken: page.nextPageToken, position };
}

async function listTrials(backend: Backend, request: Plain<ListTrialsRequest>) {
  await backend.reachText(request.minPosition);
  const experiment = await backend.get("experiment", request.experiment);
  const size = pageSize(request.pageSize);
  const after = readPageToken(request.pageToken);
  const position = backend.position;
  const rows = await backend.parts.documents.list(backend.parts.pool, "trial", {
    parent: request.experiment,
    limit: size + 1,
    ...(after === undefined ? {} : { after }),
  });
  const page = pageOf(rows, size);
  const items = page.rows.map(({ doc }) => shownTrial(doc, experiment));
  return { items, nextPageToken: page.nextPageToken, position };
}

async function getTrial(
  backend: Backend,
  request: Plain<GetTrialRequest>,
  context: RequestContext,
) {
  await backend.reachText(request.minPosition);
  const doc = await backend.get("trial", request.trial);
  const trial = shownTrial(doc, await backend.find("experiment", doc.experiment));
  if (trial.state === "COMPLETED") return { ...trial, progress: 1 };
  if (trial.endedAtMs === undefined) {
    return { ...trial, progress: await reportedProgress(backend, trial.id, context) };
  }
  if (trial.state !== "ERROR") return trial;
  const lastLogLines = await lastLines(backend, trial.id, gatewayLimits.lastLogLines, context);
  return { ...trial, lastLogLines };
}
