/** The streams that checkpoint-gc owns, and the streams of other services that its decisions depend on. */
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import {
  type CheckpointFacts,
  evolveCheckpoint,
  unknownCheckpoint,
} from "./core/foreign/checkpoint.ts";
import {
  type ExperimentFacts,
  evolveExperiment,
  unknownExperiment,
} from "./core/foreign/experiment.ts";
import { evolveSearch, type SearchFacts, unknownSearch } from "./core/foreign/search.ts";
import { type AdoptionFacts, evolveAdoption, notAdopted } from "./core/foreign/storage.ts";
import { evolveTask, type TaskFacts, unknownTask } from "./core/foreign/task.ts";
import { evolveTrial, type TrialFacts, unknownTrial } from "./core/foreign/trial.ts";
import {
  type PolicyCommand,
  policyDecider,
  type PolicyEvent,
  type PolicyState,
} from "./core/retention-policy/decide.ts";
import type { RetentionCommand } from "./core/retention/commands.ts";
import { retentionDecider } from "./core/retention/decide.ts";
import type { RetentionEvent, RetentionState } from "./core/retention/state.ts";

export const policies: Aggregate<PolicyState, PolicyCommand, PolicyEvent> = {
  name: "policy",
  category: "policy",
  decider: policyDecider,
};

export const retentions: Aggregate<RetentionState, RetentionCommand, RetentionEvent> = {
  name: "retention",
  category: "retention",
  decider: retentionDecider,
};

export const checkpoints: StreamFold<CheckpointFacts> = {
  name: "checkpoint",
  category: "checkpoint",
  initial: unknownCheckpoint,
  evolve: evolveCheckpoint,
};

export const trials: StreamFold<TrialFacts> = {
  name: "trial",
  category: "trial",
  initial: unknownTrial,
  evolve: evolveTrial,
};

export const tasks: StreamFold<TaskFacts> = {
  name: "task",
  category: "task",
  initial: unknownTask,
  evolve: evolveTask,
};

export const experiments: StreamFold<ExperimentFacts> = {
  name: "experiment",
  category: "experiment",
  initial: unknownExperiment,
  evolve: evolveExperiment,
};

/** The adopted storage roots; a root's stream is named by `storageStreamId`. */
export const adoptions: StreamFold<AdoptionFacts> = {
  name: "adoption",
  category: "storage",
  initial: notAdopted,
  evolve: evolveAdoption,
};

export const searches: StreamFold<SearchFacts> = {
  name: "search",
  category: "search",
  initial: unknownSearch,
  evolve: evolveSearch,
};
