/**
 * Reactions to events of experiments, runs, validations, checkpoints and trials: commands of the experiment's search.
 */
import type { EventLog } from "@trainyard/event-log";
import { continuedConfig, recordedConfig } from "@trainyard/experiment-config/recorded";
import { Fault, isRejection, parseTrialId, streamName } from "@trainyard/kernel";
import type { Reaction, ReactionHandlers, Work } from "@trainyard/runtime";
import type { SearchCommand } from "@trainyard/search";
import {
  recordCheckpoint,
  recordOutcome,
  recordValidation,
  startSearch,
} from "../core/reactions.ts";
import { earlierTrials } from "./earlier-searches.ts";
import type { RunIndex } from "./run-index.ts";
import { searches } from "../streams.ts";

export function reactionHandlers(runs: RunIndex, log: EventLog): ReactionHandlers {
  return {
    ExperimentCreated: async ({ id, data, stored }, work) => {
      const command = startSearch(data, stored.timeMs);
      const earlier = await earlierTrials(log, command.config);
      await decide(work, id, earlier === undefined ? command : { ...command, earlier });
    },
    ExperimentContinued: (event, work) => continueSearch(event, work),
    // The search's events stay, but only a verification folds them, so the snapshots can be deleted.
    ExperimentDeleted: ({ id }) => log.dropSnapshots(streamName(searches.category, id)),
    ExperimentStopRequested: ({ id }, work) => decide(work, id, { type: "CancelSearch" }),
    RunRequested: async ({ id, data, stored }) => {
      if (parseTrialId(id) !== null) runs.note(id, data.run, stored.position);
    },
    ValidationReported: async ({ data, stored }, work) => {
      const parts = parseTrialId(data.trial);
      if (parts === null) return;
      const currentRun = await runs.currentRunAt(data.trial, stored.position);
      const command = recordValidation(data, stored.id, currentRun, stored.timeMs);
      if (command !== null) await decide(work, parts.experiment, command);
    },
    TrialCheckpointed: async ({ id, data }, work) => {
      const parts = parseTrialId(id);
      if (parts === null) return;
      await decide(work, parts.experiment, recordCheckpoint(parts.number, data));
    },
    RunStarted: (event, work) => recordUsage(event, work, true),
    RunEnded: (event, work) => recordUsage(event, work, false),
    TrialEnded: async ({ id, data, stored }, work) => {
      const parts = parseTrialId(id);
      if (parts === null) return;
      await decide(work, parts.experiment, recordOutcome(parts.number, data, stored.timeMs));
    },
  };
}

/** Continues a search; the settings that the continuation names replace the old ones. */
async function continueSearch(
  { id, data }: Reaction<"ExperimentContinued">,
  work: Work,
): Promise<void> {
  const searcher = await work.look(searches, id, ({ state }) => state.plan?.searcher);
  const config = continuedConfig({ searcher: searcher ?? {} }, data);
  await decide(work, id, {
    type: "ContinueSearch",
    continuation: data.continuation,
    searcher: recordedConfig(config).searcher,
    only: data.trial ?? null,
  });
}

async function recordUsage(
  { id, data, stored }: Reaction<"RunStarted"> | Reaction<"RunEnded">,
  work: Work,
  started: boolean,
): Promise<void> {
  const parts = parseTrialId(id);
  if (parts === null) return;
  const { number: trial, experiment } = parts;
  const atMs = stored.timeMs;
  await decide(work, experiment, { type: "RecordUsage", trial, run: data.run, started, atMs });
}

/** Decides a command. If the search rejects it, the event is parked with the search's reason, for an operator. */
async function decide(work: Work, experiment: string, command: SearchCommand): Promise<void> {
  const decided = await work.decide(searches, experiment, command);
  if (isRejection(decided)) throw new Fault(decided.rejected, decided.detail, { retry: "never" });
}
