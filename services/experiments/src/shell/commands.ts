/** The commands of people, sent by the gateway. Each is one commit to the stream of one experiment. */
import type { EventData, Plain } from "@trainyard/contracts";
import type { CreateExperiment, Place } from "@trainyard/contracts/commands";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { isExperimentId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import {
  accepted,
  type CommandContext,
  type ContentFile,
  type Executor,
  foldOf,
  refusalOfContents,
  refusalOfPlace,
  type Work,
  type CommandTable,
} from "@trainyard/runtime";
import type { ExperimentCommand } from "../core/experiment/commands.ts";
import { actOnExperiments } from "./act-on-experiments.ts";
import { labelExperiments } from "./label-experiments.ts";
import { moveExperiments } from "./move-experiments.ts";
import type { ExperimentIds } from "./experiment-ids.ts";
import { type Grace, lifeCommands } from "./life-commands.ts";
import type { taskCommands } from "./task-commands.ts";
import { experiments } from "../streams.ts";

export function commandTable(
  executor: Executor,
  ids: ExperimentIds,
  grace: Grace,
): Omit<CommandTable<"experiments">, keyof ReturnType<typeof taskCommands>> {
  const change = async (id: string, context: CommandContext, wanted: ExperimentCommand) => {
    if (!isExperimentId(id)) {
      return reject("experiment_not_found", `"${id}" is not the number of an experiment`);
    }
    const result = await executor.execute(context.identity, async (work) => {
      const decided = await work.decide(experiments, id, wanted);
      if (isRejection(decided))
        return { ...decided, detail: `experiment ${id}: ${decided.detail}` };
      return undefined;
    });
    return accepted(result);
  };
  return {
    CreateExperiment: (request, context) => create(executor, ids, request, context),
    ActivateExperiment: (request, context) =>
      change(request.experiment, context, { kind: "activate" }),
    PauseExperiment: (request, context) => change(request.experiment, context, { kind: "pause" }),
    ArchiveExperiment: (request, context) => {
      const { experiment, archived, reason } = request;
      return change(
        experiment,
        context,
        archived ? { kind: "archive", reason } : { kind: "unarchive" },
      );
    },
    ...lifeCommands(executor, grace),
    ActOnExperiments: (request, context) => actOnExperiments(executor, request, context, grace),
    MoveExperiments: (request, context) => moveExperiments(executor, request, context),
    LabelExperiments: (request, context) => labelExperiments(executor, request, context),
    DescribeExperiment: (request, context) => {
      const { experiment, ifRevision, ...words } = request;
      return change(experiment, context, { kind: "describe", words, ifRevision });
    },
    StopExperiment: (request, context) => {
      const { experiment, kind, reason } = request;
      return change(experiment, context, { kind: "stop", stop: kind, reason });
    },
  };
}

/**
 * Creates an experiment. A repeated command draws a number again, but the log returns the writes of the first attempt,
 * whose number is in the answer.
 */
async function create(
  executor: Executor,
  ids: ExperimentIds,
  request: Plain<CreateExperiment>,
  { identity }: CommandContext,
): Promise<ReturnType<typeof accepted>> {
  const { place } = request;
  if (place === undefined) return reject("invalid_request", "place is missing");
  const created = createdFrom(request, place);
  if (isRejection(created)) return created;
  const meta = { ...identity.meta, workspace: created.workspace };
  const result = await executor.execute({ ...identity, meta }, async (work) => {
    const unknown = await unknownParent(work, created.parent?.experiment);
    if (unknown !== null) return unknown;
    const closed = await refusalOfPlace(work, place);
    if (closed !== null) return closed;
    const deleted = await refusalOfContents(work, filesOf(request));
    if (deleted !== null) return deleted;
    const wanted = { kind: "create", created, paused: request.paused } as const;
    const decided = await work.decide(experiments, await ids.next(), wanted);
    return isRejection(decided) ? decided : undefined;
  });
  return accepted(result);
}

/** Returns the contents that the experiment names and that the gateway has stored. */
function filesOf(request: Plain<CreateExperiment>): readonly ContentFile[] {
  const { contextDigest, contextDeletions, submissionDigest, submissionDeletions } = request;
  return [
    { folder: "contexts", digest: contextDigest, deletions: contextDeletions },
    { folder: "submissions", digest: submissionDigest, deletions: submissionDeletions },
  ];
}

async function unknownParent(work: Work, parent: string | undefined): Promise<Rejection | null> {
  if (parent === undefined) return null;
  const known = isExperimentId(parent) && (await isThere(work, parent));
  return known ? null : reject("experiment_not_found", `there is no experiment ${parent} to fork`);
}

async function isThere(work: Work, id: string): Promise<boolean> {
  const { status, deletion } = await work.guard(foldOf(experiments), id);
  return status !== "none" && deletion === null;
}

function createdFrom(
  request: Plain<CreateExperiment>,
  { workspace, project }: Plain<Place>,
): EventData<"ExperimentCreated"> | Rejection {
  const { config, configSourceDigest, contextDigest, contextBytes, seed, owner, parent } = request;
  const { submissionDigest, tokenId } = request;
  if (config === undefined) return reject("invalid_request", "config is missing");
  const { name, description, labels } = recordedConfig(config);
  return {
    config,
    configSourceDigest,
    contextDigest,
    contextBytes,
    seed,
    name,
    description,
    labels,
    owner,
    workspace,
    project,
    submissionDigest,
    tokenId,
    ...(parent === undefined ? {} : { parent }),
  };
}
