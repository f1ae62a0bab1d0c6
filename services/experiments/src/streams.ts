/** The streams that this service owns, and the streams of other services that its decisions depend on. */
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import type { ExperimentCommand } from "./core/experiment/commands.ts";
import { experimentDecider } from "./core/experiment/decide.ts";
import type { ExperimentEvent, ExperimentState } from "./core/experiment/state.ts";
import {
  type AllocationState,
  evolveAllocation,
  initialAllocation,
} from "./core/foreign/allocation.ts";
import {
  type CheckpointState,
  evolveCheckpoint,
  evolveRetention,
  initialCheckpoint,
  initialRetention,
  type RetentionState,
} from "./core/foreign/checkpoint.ts";
import {
  evolveLogSignals,
  initialLogSignals,
  type LogSignals,
} from "./core/foreign/log-signals.ts";
import { evolveSearch, initialSearch, type SearchState } from "./core/foreign/search.ts";
import type { TaskCommand } from "./core/task/commands.ts";
import { taskDecider } from "./core/task/decide.ts";
import type { TaskEvent, TaskState } from "./core/task/state.ts";
import type { TrialCommand } from "./core/trial/commands.ts";
import { trialDecider } from "./core/trial/decide.ts";
import type { TrialEvent, TrialState } from "./core/trial/state.ts";

export const experiments: Aggregate<ExperimentState, ExperimentCommand, ExperimentEvent> = {
  name: "experiment",
  category: "experiment",
  decider: experimentDecider,
};

export const trials: Aggregate<TrialState, TrialCommand, TrialEvent> = {
  name: "trial",
  category: "trial",
  decider: trialDecider,
};

export const tasks: Aggregate<TaskState, TaskCommand, TaskEvent> = {
  name: "task",
  category: "task",
  decider: taskDecider,
};

export const searches: StreamFold<SearchState> = {
  name: "search",
  category: "search",
  initial: initialSearch,
  evolve: evolveSearch,
};

export const checkpoints: StreamFold<CheckpointState> = {
  name: "checkpoint",
  category: "checkpoint",
  initial: initialCheckpoint,
  evolve: evolveCheckpoint,
};

export const retentions: StreamFold<RetentionState> = {
  name: "retention",
  category: "retention",
  initial: initialRetention,
  evolve: evolveRetention,
};

export const allocations: StreamFold<AllocationState> = {
  name: "allocation",
  category: "allocation",
  initial: initialAllocation,
  evolve: evolveAllocation,
};

/** Whether an agent is removed. A lost one may only be restarting, and delivers when it is back. */
export const goneAgents: StreamFold<boolean> = {
  name: "gone-agent",
  category: "agent",
  initial: false,
  evolve: (isGone, { type }) =>
    type === "AgentRemoved" || (isGone && type !== "AgentJoined" && type !== "AgentReturned"),
};

export const logSignals: StreamFold<LogSignals> = {
  name: "log-signals",
  category: "logsignal",
  initial: initialLogSignals,
  evolve: evolveLogSignals,
};
