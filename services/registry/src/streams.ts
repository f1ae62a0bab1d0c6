/** The streams that this service owns, and foreign streams that its decisions depend on. */
import type { EventData } from "@trainyard/contracts";
import { assert, parseTrialId } from "@trainyard/kernel";
import type { Aggregate, StreamFold } from "@trainyard/runtime";
import type { CheckpointCommand } from "./core/checkpoint/commands.ts";
import { checkpointDecider } from "./core/checkpoint/decide.ts";
import type { CheckpointEvent, CheckpointState } from "./core/checkpoint/state.ts";
import {
  type ExperimentStorage,
  evolveStorage,
  evolveTaskStorage,
  unknownStorage,
} from "./core/foreign/experiment.ts";
import { holdDecider } from "./core/hold/decide.ts";
import type { HoldCommand, HoldEvent, HoldState } from "./core/hold/state.ts";
import type { StorageCommand } from "./core/storage/commands.ts";
import { storageDecider } from "./core/storage/decide.ts";
import type { StorageEvent, StorageState } from "./core/storage/state.ts";
import { evolveHoldable, type Holdable } from "./core/foreign/hold.ts";
import type { ModelCommand } from "./core/model/commands.ts";
import { modelDecider } from "./core/model/decide.ts";
import type { ModelEvent, ModelState } from "./core/model/state.ts";
import { evolveRetention, type Retention, retained } from "./core/foreign/retention.ts";
import { evolveRuns, type MakerRuns, noRuns } from "./core/foreign/trial.ts";
import { type Maker, makerOf } from "./core/maker.ts";

export const checkpoints: Aggregate<CheckpointState, CheckpointCommand, CheckpointEvent> = {
  name: "checkpoint",
  category: "checkpoint",
  decider: checkpointDecider,
};

/** The storages by the `storageStreamId` of their root. */
export const storages: Aggregate<StorageState, StorageCommand, StorageEvent> = {
  name: "storage",
  category: "storage",
  decider: storageDecider,
};

/** The hold on deletions, one stream. */
export const holds: Aggregate<HoldState, HoldCommand, HoldEvent> = {
  name: "hold",
  category: "hold",
  decider: holdDecider,
};

export const models: Aggregate<ModelState, ModelCommand, ModelEvent> = {
  name: "model",
  category: "model",
  decider: modelDecider,
};

export const trialRuns: StreamFold<MakerRuns> = {
  name: "trial-runs",
  category: "trial",
  initial: noRuns,
  evolve: evolveRuns,
};

const taskRuns: StreamFold<MakerRuns> = { ...trialRuns, name: "task-runs", category: "task" };

/** A fold and the id of a stream of its category. */
export type Folded<State> = { readonly fold: StreamFold<State>; readonly id: string };

/** The runs of a checkpoint's trial or task. */
export function runsOf(maker: Pick<Maker, "trial" | "task">): Folded<MakerRuns> {
  return { fold: maker.task === undefined ? trialRuns : taskRuns, id: makerOf(maker) };
}

/**
 * The users of a run's processes on its nodes. None if a node has its agent's user: that one is not known, so nothing
 * can be compared with it.
 */
export const runUsers: StreamFold<readonly number[]> = {
  name: "run-users",
  category: "allocation",
  initial: [],
  evolve: (users, event) =>
    event.type === "AllocationStarted" ? usersOf(event.data.starts) : users,
};

function usersOf(starts: EventData<"AllocationStarted">["starts"]): readonly number[] {
  const users = starts.flatMap(({ userId }) => (userId === undefined ? [] : [userId]));
  return users.length === starts.length ? users : [];
}

export const experimentStorage: StreamFold<ExperimentStorage> = {
  name: "experiment-storage",
  category: "experiment",
  initial: unknownStorage,
  evolve: evolveStorage,
};

const taskStorage: StreamFold<ExperimentStorage> = {
  name: "task-storage",
  category: "task",
  initial: unknownStorage,
  evolve: evolveTaskStorage,
};

/** The storage of the checkpoints of a trial's experiment, or of a task. */
export function storageSource({ trial, task }: Maker): Folded<ExperimentStorage> {
  if (task !== undefined) return { fold: taskStorage, id: task };
  const experiment = parseTrialId(trial)?.experiment;
  assert(experiment !== undefined, `${trial} is a trial`);
  return { fold: experimentStorage, id: experiment };
}

export const retentions: StreamFold<Retention> = {
  name: "retention",
  category: "retention",
  initial: retained,
  evolve: evolveRetention,
};

/** The same streams as retentions: a condemned checkpoint cannot become a version. */
export const holdables: StreamFold<Holdable> = {
  name: "holdable",
  category: "retention",
  initial: "kept",
  evolve: evolveHoldable,
};
