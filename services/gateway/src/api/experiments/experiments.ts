import { decodeEvent, type Plain, type ReplyOf, type RequestOf } from "@trainyard/contracts";
import type { MatchedLogPolicy } from "@trainyard/contracts/api";
import { StopKind } from "@trainyard/contracts/events";
import { isExperimentId, streamName } from "@trainyard/kernel";
import { streamEvents } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { comparison, type Filter } from "../../read-model/core/lists/filter.ts";
import { experimentList, trialList } from "../../read-model/core/lists/lists.ts";
import { isAttribute } from "../../read-model/core/views/attributes.ts";
import { experimentStates } from "../../read-model/core/views/project-experiment.ts";
import { attributeValues } from "../../read-model/list-pages.ts";
import { searchClients } from "../../streams.ts";
import { searchWaitsFor } from "../core/search-client.ts";
import { rowsPage, shownColumns, withoutArchived } from "../lists.ts";
import { lastLines } from "../logs/trial-logs.ts";
import { shownExperiment, shownTrial } from "../shown.ts";
import { actOnExperiments } from "./act-on-experiments.ts";
import { createExperiment } from "./create-experiment.ts";
import { forkExperiment } from "./fork-experiment.ts";
import { labelExperiments } from "./label-experiments.ts";
import { withParents } from "./parents.ts";
import { updateExperiment } from "./update-experiment.ts";
import { wholeTrial } from "./whole.ts";

/** The most matched log policies that a trial's description shows; there may be one per policy, node and run. */
const logPoliciesShown = 100;
/** The lines of a trial in ERROR that `describe` shows. */
const shownLogLines = 20;

export function experimentHandlers(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
) {
  return {
    createExperiment: (request, context) =>
      createExperiment(backend, checkpointStorage, request, context),
    actOnExperiments: (request, context) => actOnExperiments(backend, request, context),
    labelExperiments: (request, context) => labelExperiments(backend, request, context),
    forkExperiment: (request, context) =>
      forkExperiment(backend, checkpointStorage, request, context),
    listExperiments: (request, context) => listExperiments(backend, request, context),
    getExperiment: async (request, context) => {
      await backend.reachText(request.minPosition);
      return getExperiment(backend, request.experiment, context);
    },
    updateExperiment: (request, context) => updateExperiment(backend, request, context),
    listTrials: (request, context) => listTrials(backend, request, context),
    getTrial: (request, context) => getTrial(backend, request, context),
    ...commandHandlers(backend),
  } satisfies Partial<UnaryHandlers>;
}

async function getExperiment(
  backend: Backend,
  id: string,
  { rights }: RequestContext,
): Promise<ReplyOf<"getExperiment">> {
  const { doc, config } = await backend.experimentWithConfig(id);
  const shown = shownExperiment(doc, config);
  const [experiment = shown] = await withParents(backend, rights, [shown]);
  if (experiment.searcher !== "custom" || experiment.endedAtMs !== undefined) return experiment;
  const { state } = await backend.parts.executor.cache.load(searchClients, id);
  return { ...experiment, waitsFor: searchWaitsFor(state) };
}

function commandHandlers(backend: Backend) {
  const answered = async (
    experiment: string,
    ask: () => Promise<{ readonly position: number }>,
  ): Promise<ReplyOf<"pauseExperiment">> => {
    if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
    const { position } = await ask();
    await backend.reach(position);
    const doc = await backend.get("experiment", experiment);
    const shown = shownExperiment(doc, await backend.configOf(doc.id));
    return { position: String(position || backend.position), experiment: shown };
  };
  const stop =
    (kind: StopKind, reason: string) =>
    ({ experiment }: RequestOf<"cancelExperiment">, context: RequestContext) =>
      answered(experiment, () =>
        backend.command("experiments", "StopExperiment", { experiment, kind, reason }, context),
      );
  const archive = (
    experiment: string,
    archived: boolean,
    reason: string,
    context: RequestContext,
  ) => {
    const request = { experiment, archived, reason };
    return answered(experiment, () =>
      backend.command("experiments", "ArchiveExperiment", request, context),
    );
  };
  return {
    activateExperiment: ({ experiment }, context) =>
      answered(experiment, () =>
        backend.command("experiments", "ActivateExperiment", { experiment }, context),
      ),
    archiveExperiment: ({ experiment, reason }, context) =>
      archive(experiment, true, reason, context),
    unarchiveExperiment: ({ experiment }, context) => archive(experiment, false, "", context),
    pauseExperiment: ({ experiment }, context) =>
      answered(experiment, () =>
        backend.command("experiments", "PauseExperiment", { experiment }, context),
      ),
    cancelExperiment: stop(StopKind.CANCEL, "canceled by a user"),
    killExperiment: stop(StopKind.KILL, "killed by a user"),
  } satisfies Partial<UnaryHandlers>;
}

async function listExperiments(
  backend: Backend,
  request: RequestOf<"listExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"listExperiments">> {
  const { labels, states, workspace, project } = request;
  const unknown = states.find((state) => !experimentStates.includes(state));
  if (unknown !== undefined) {
    const known = experimentStates.join(", ");
    const detail = `${JSON.stringify(unknown)} is not a state; the states are ${known}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const inStates: Filter = {
    kind: "or",
    of: states.map((state) => comparison("state", "=", state)),
  };
  const conditions = [
    ...withoutArchived(request),
    ...(workspace === "" ? [] : [comparison("workspace", "=", workspace)]),
    ...(project === "" ? [] : [comparison("project", "=", project)]),
    ...(states.length === 0 ? [] : [inStates]),
    ...labels.map((label) => comparison("label", "=", label)),
  ];
  const scope = { context, conditions };
  const { items, ...page } = await rowsPage(backend, experimentList, request, scope);
  const ids = items.map(({ id }) => id);
  const attributes = request.fields.filter(isAttribute);
  const values = await attributeValues(backend.parts.pool, experimentList, ids, attributes);
  const shown = items.map((doc) => {
    const own = values.get(doc.id);
    return { ...shownExperiment(doc), ...(own === undefined ? {} : { values: { ...own } }) };
  });
  return { ...page, items: await withParents(backend, context.rights, shown) };
}

async function listTrials(
  backend: Backend,
  request: RequestOf<"listTrials">,
  context: RequestContext,
): Promise<ReplyOf<"listTrials">> {
  await backend.reachText(request.minPosition);
  const experiment = await backend.get("experiment", request.experiment);
  const config = await backend.configOf(experiment.id);
  const { items, ...page } = await rowsPage(backend, trialList, request, {
    context,
    scope: experiment.id,
    columns: await shownColumns(backend, trialList, experiment.id),
  });
  return { ...page, items: items.map((trial) => shownTrial(trial, experiment, config)) };
}

async function getTrial(backend: Backend, request: RequestOf<"getTrial">, context: RequestContext) {
  await backend.reachText(request.minPosition);
  const doc = await wholeTrial(backend, await backend.get("trial", request.trial));
  const shown = shownTrial(
    doc,
    await backend.find("experiment", doc.experiment),
    await backend.configOf(doc.experiment),
  );
  const age = shown.endedAtMs === undefined ? await backend.scheduler.age() : {};
  const logPoliciesMatched = await matchedPolicies(backend, request.trial);
  const trial = { ...shown, ...age, logPoliciesMatched };
  if (trial.state !== "ERROR") return trial;
  const lastLogLines = await lastLines(backend, trial.id, shownLogLines, context);
  return { ...trial, lastLogLines };
}

async function matchedPolicies(
  { parts }: Backend,
  trial: string,
): Promise<readonly Plain<MatchedLogPolicy>[]> {
  const found: Plain<MatchedLogPolicy>[] = [];
  // The stream also has the matches of webhooks.
  for await (const stored of streamEvents(parts.log, streamName("logsignal", trial))) {
    const event = decodeEvent(stored);
    if (event.type === "LogPolicyMatched") found.push({ ...event.data, atMs: stored.timeMs });
    if (found.length === logPoliciesShown) break;
  }
  return found;
}
