import type { Aggregate, StreamFold } from "@trainyard/runtime";
import { agentDecider } from "./core/agent/decide.ts";
import type { AgentCommand, AgentEvent, AgentState } from "./core/agent/state.ts";
import { allocationDecider } from "./core/allocation/decide.ts";
import type {
  AllocationCommand,
  AllocationEvent,
  AllocationState,
} from "./core/allocation/state.ts";
import {
  type ExperimentCode,
  evolveExperiment,
  initialExperiment,
} from "./core/foreign/experiment.ts";
import { evolveTrial, initialTrial, type TrialWork } from "./core/foreign/trial.ts";
import { evolveTask, initialTask, type TaskWork } from "./core/foreign/task.ts";
import {
  type PoolCommand,
  type PoolEvent,
  type PoolState,
  poolDecider,
} from "./core/pool/decide.ts";

export const allocations: Aggregate<AllocationState, AllocationCommand, AllocationEvent> = {
  name: "allocation",
  category: "allocation",
  decider: allocationDecider,
};

export const agents: Aggregate<AgentState, AgentCommand, AgentEvent> = {
  name: "agent",
  category: "agent",
  decider: agentDecider,
};

export const pools: Aggregate<PoolState, PoolCommand, PoolEvent> = {
  name: "pool",
  category: "pool",
  decider: poolDecider,
};

export const experimentCode: StreamFold<ExperimentCode | null> = {
  name: "experiment-code",
  category: "experiment",
  initial: initialExperiment,
  evolve: evolveExperiment,
};

export const trialWork: StreamFold<TrialWork> = {
  name: "trial-work",
  category: "trial",
  initial: initialTrial,
  evolve: evolveTrial,
};

export const taskWork: StreamFold<TaskWork | null> = {
  name: "task-work",
  category: "task",
  initial: initialTask,
  evolve: evolveTask,
};
