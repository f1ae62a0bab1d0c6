import { ExperimentOutcome, StopKind, TrialOutcome } from "@trainyard/contracts/events";
import { continuedConfig, recordedConfig } from "@trainyard/experiment-config/recorded";
import { parseTrialId } from "@trainyard/kernel";
import { hyperparameterAttributes } from "./attributes.ts";
import { constantsOf } from "./constants.ts";
import type { Projections } from "./projections.ts";
import { neverRan } from "./run-times.ts";

const outcomeStates: Readonly<Record<number, string>> = {
  [ExperimentOutcome.COMPLETED]: "COMPLETED",
  [ExperimentOutcome.CANCELED]: "CANCELED",
  [ExperimentOutcome.FAILED]: "ERROR",
};

/** The states of an experiment in the API. */
export const experimentStates: readonly string[] = [
  "ACTIVE",
  "PAUSED",
  "STOPPING_CANCELED",
  "STOPPING_KILLED",
  "COMPLETED",
  "CANCELED",
  "ERROR",
];

function isEnded(state: string): boolean {
  return Object.values(outcomeStates).includes(state);
}

const unset = {
  reason: "",
  trials: 0,
  trialsCompleted: 0,
  trialsFailed: 0,
  progress: 0,
  searcher: "",
  metric: "",
  smallerIsBetter: true,
  ...neverRan,
  starting: 0,
  warning: "",
  waitsFor: "",
  notes: "",
  archived: false,
  revision: 0,
};

/** Returns the searcher and metric of the configuration, which are shown before the search has started. */
function searchOf(config: unknown): { readonly searcher: string; readonly metric: string } {
  const { name, metric } = recordedConfig(config).searcher;
  return { searcher: name, metric };
}

export const experimentProjections: Projections = {
  ExperimentCreated({ data, id, timeMs }, documents) {
    const { name, description, labels, owner, config, seed, workspace, project, contextDigest } =
      data;
    const constants = hyperparameterAttributes(constantsOf(config));
    const hasConfig = config !== undefined;
    documents.put({
      kind: "config",
      id,
      parent: "",
      ordinal: Number(id),
      doc: hasConfig ? { config } : {},
    });
    documents.put({
      kind: "experiment",
      id,
      parent: "",
      ordinal: Number(id),
      doc: {
        ...unset,
        id,
        name,
        description,
        labels,
        owner,
        seed,
        workspace,
        project,
        contextDigest,
        parent: data.parent?.experiment ?? "",
        state: "PAUSED",
        createdAtMs: timeMs,
        constants,
        attributes: constants,
        ...(hasConfig ? searchOf(config) : {}),
      },
    });
  },
  ExperimentActivated({ id }, documents) {
    documents.update("experiment", id, () => ({ state: "ACTIVE" }));
  },
  ExperimentPaused({ id }, documents) {
    documents.update("experiment", id, () => ({ state: "PAUSED" }));
  },
  ExperimentStopRequested({ id, data }, documents) {
    const state = data.kind === StopKind.KILL ? "STOPPING_KILLED" : "STOPPING_CANCELED";
    documents.update("experiment", id, () => ({ state, reason: data.reason }));
  },
  ExperimentEnded({ id, data, timeMs }, documents) {
    const state = outcomeStates[data.outcome] ?? "ERROR";
    documents.update("experiment", id, () => ({
      state,
      reason: data.reason,
      endedAtMs: timeMs,
    }));
  },
  ExperimentContinued({ id, data }, documents) {
    documents.replace("experiment", id, ({ endedAtMs: _ended, ...doc }) => ({
      ...doc,
      state: isEnded(doc.state) ? "ACTIVE" : doc.state,
      reason: isEnded(doc.state) ? "" : doc.reason,
    }));
    documents.update("config", id, ({ config }) => ({
      config: continuedConfig(config, data) as NonNullable<typeof config>,
    }));
  },
  TrialContinued({ id }, documents) {
    const { experiment = "", state = "" } = documents.get("trial", id) ?? {};
    documents.update("experiment", experiment, (doc) => ({
      trialsCompleted: doc.trialsCompleted - Number(state === "COMPLETED"),
      trialsFailed: doc.trialsFailed - Number(state === "ERROR"),
    }));
  },
  ExperimentArchived({ id }, documents) {
    documents.update("experiment", id, () => ({ archived: true }));
  },
  ExperimentUnarchived({ id }, documents) {
    documents.update("experiment", id, () => ({ archived: false }));
  },
  ExperimentMoved({ id, data }, documents) {
    documents.update("experiment", id, () => data);
  },
  ExperimentDeletionRequested({ id, data }, documents) {
    documents.update("experiment", id, () => ({ deletion: data }));
  },
  ExperimentDeletionUndone({ id }, documents) {
    documents.replace("experiment", id, ({ deletion: _undone, ...doc }) => doc);
  },
  ExperimentDeleted({ id }, documents) {
    documents.removeExperiment(id);
  },
  ExperimentDescribed({ id, data }, documents) {
    documents.update("experiment", id, () => data);
  },
  SearchStarted({ id, data }, documents) {
    documents.update("experiment", id, () => ({
      searcher: data.algorithm,
      metric: data.metric,
      smallerIsBetter: data.smallerIsBetter,
    }));
  },
  TrialCreated({ data }, documents) {
    documents.update("experiment", data.experiment, (doc) => ({ trials: doc.trials + 1 }));
  },
  TrialEnded({ id, data }, documents) {
    const experiment = parseTrialId(id)?.experiment ?? "";
    const completed =
      data.outcome === TrialOutcome.COMPLETED || data.outcome === TrialOutcome.STOPPED_EARLY;
    const failed = data.outcome === TrialOutcome.FAILED;
    // A completed trial may later be reported as failed.
    const again = documents.get("trial", id)?.endedAtMs !== undefined;
    documents.update("experiment", experiment, (doc) => ({
      trialsCompleted: doc.trialsCompleted + (completed ? 1 : 0) - (again ? 1 : 0),
      trialsFailed: doc.trialsFailed + (failed ? 1 : 0),
    }));
  },
};
