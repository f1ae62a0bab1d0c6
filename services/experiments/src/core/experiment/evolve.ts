import { recordedSource } from "@trainyard/experiment-config/recorded";
import { continuedSize, searchSize } from "./search-size.ts";
import { runPlan, emptyPlan } from "./run-plan.ts";
import type { ExperimentEvent, ExperimentState } from "./state.ts";
import { noWords, type Words } from "./words.ts";

export const initialExperiment: ExperimentState = {
  status: "none",
  stop: null,
  plan: emptyPlan,
  workspace: "",
  project: "",
  owner: "",
  size: { algorithm: "", maxTrials: 0, length: null },
  continuation: 0,
  continuedBy: "",
  deletion: null,
  archived: false,
  words: noWords,
  revision: 0,
};

export function evolveExperiment(state: ExperimentState, event: ExperimentEvent): ExperimentState {
  switch (event.type) {
    case "ExperimentCreated": {
      const source = recordedSource(event.data.config);
      return {
        ...state,
        status: "paused",
        plan: runPlan(event.data.config),
        size: searchSize(event.data.config),
        workspace: event.data.workspace,
        project: event.data.project,
        owner: event.data.owner,
        words: { ...wordsOf(event.data), notes: "" },
        ...(source === null ? {} : { source }),
      };
    }
    case "ExperimentActivated":
      return { ...state, status: "active" };
    case "ExperimentPaused":
      return { ...state, status: "paused" };
    case "ExperimentStopRequested":
      return { ...state, stop: { kind: event.data.kind, reason: event.data.reason } };
    case "ExperimentEnded":
      return { ...state, status: "ended" };
    case "ExperimentContinued": {
      const { continuation, request: continuedBy } = event.data;
      const size = continuedSize(state.size, event.data);
      // A running experiment continues only one of its trials, so its own state stays.
      if (state.status !== "ended") return { ...state, size, continuation, continuedBy };
      return { ...state, size, continuation, continuedBy, status: "active", stop: null };
    }
    case "ExperimentDeletionRequested":
      return { ...state, deletion: { graceEndMs: event.data.graceEndMs, gone: false } };
    case "ExperimentDeletionUndone":
      return { ...state, deletion: null };
    case "ExperimentDeleted":
      return { ...state, deletion: { graceEndMs: 0, gone: true } };
    case "ExperimentMoved":
      return { ...state, workspace: event.data.workspace, project: event.data.project };
    case "ExperimentArchived":
      return { ...state, archived: true };
    case "ExperimentUnarchived":
      return { ...state, archived: false };
    case "ExperimentDescribed": {
      const { notes, revision } = event.data;
      return { ...state, words: { ...wordsOf(event.data), notes }, revision };
    }
    default:
      return state;
  }
}

function wordsOf({ name, description, labels }: Omit<Words, "notes">): Omit<Words, "notes"> {
  return { name, description, labels };
}
