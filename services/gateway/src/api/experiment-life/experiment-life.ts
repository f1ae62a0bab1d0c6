/** The calls that continue experiments, restart or kill one trial, and delete or undelete experiments. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { deriveCommitId } from "@trainyard/event-log";
import { isExperimentId, parseTrialId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { notFound } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { experimentList } from "../../read-model/core/lists/lists.ts";
import { HiddenNames } from "../rights/masks.ts";
import { rowsPage, wholeList } from "../lists.ts";
import { shownExperiment, shownTrial } from "../shown.ts";

export function experimentLifeHandlers(backend: Backend) {
  const ofTrial = async (
    trial: string,
    ask: () => Promise<{ readonly position: number }>,
  ): Promise<ReplyOf<"killTrial">> => {
    if (parseTrialId(trial) === null) throw notFound("trial", trial);
    const { position } = await ask();
    await backend.reach(position);
    const doc = await backend.get("trial", trial);
    const experiment = await backend.find("experiment", doc.experiment);
    const shown = shownTrial(doc, experiment, await backend.configOf(doc.experiment));
    return { position: String(position || backend.position), trial: shown };
  };
  return {
    continueExperiment: async (request, context) => {
      const { experiment } = request;
      if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
      const { position } = await backend.command(
        "experiments",
        "ContinueExperiment",
        request,
        context,
      );
      await backend.reach(position);
      const doc = await backend.get("experiment", experiment);
      const shown = shownExperiment(doc, await backend.configOf(experiment));
      return { position: String(position || backend.position), experiment: shown };
    },
    deleteExperiment: (request, context) => deleteExperiment(backend, request, context),
    undeleteExperiment: async ({ experiment }, context) => {
      if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
      const { position } = await backend.command(
        "experiments",
        "UndeleteExperiment",
        { experiment },
        context,
      );
      await backend.reach(position);
      const doc = await backend.get("experiment", experiment);
      const shown = shownExperiment(doc, await backend.configOf(experiment));
      return { position: String(position || backend.position), experiment: shown };
    },
    listDeletedExperiments: async (request, context) => {
      const asked = { ...wholeList, ...request };
      const scope = { context, deleted: true };
      const { nextPageToken, position, ...page } = await rowsPage(
        backend,
        experimentList,
        asked,
        scope,
      );
      const items = page.items.map(({ id, name, owner, deletion }) => {
        const { reason = "", graceEndMs = 0 } = deletion ?? {};
        return { id, name, owner, reason, graceEndMs };
      });
      return { items, nextPageToken, position };
    },
    restartTrial: ({ trial }, context) =>
      ofTrial(trial, () => backend.command("experiments", "RestartTrial", { trial }, context)),
    killTrial: ({ trial, reason }, context) =>
      ofTrial(trial, () => {
        const request = { trial, reason: reason || "killed by a user" };
        return backend.command("experiments", "KillTrial", request, context);
      }),
  } satisfies Partial<UnaryHandlers>;
}

/** Asks for the preview first, so that no experiment is deleted while checkpoint-gc is unavailable. */
async function deleteExperiment(
  backend: Backend,
  { experiment, reason, dryRun }: RequestOf<"deleteExperiment">,
  context: RequestContext,
): Promise<ReplyOf<"deleteExperiment">> {
  if (!isExperimentId(experiment)) throw notFound("experiment", experiment);
  const { checkpoints, held } = await backend.command(
    "checkpoint-gc",
    "PreviewExperimentDeletion",
    { experiment },
    { ...context, commitId: deriveCommitId("preview", context.commitId) },
  );
  const hidden = await HiddenNames.among(
    backend,
    context.rights,
    held.map(({ why }) => why),
  );
  const kept = held.map((one) => ({ ...one, why: hidden.masked(one.why) }));
  if (dryRun) {
    await backend.get("experiment", experiment);
    return { position: backend.position, checkpoints, kept };
  }
  const { position } = await backend.command(
    "experiments",
    "DeleteExperiment",
    { experiment, reason },
    context,
  );
  await backend.reach(position);
  const { documents, pool } = backend.parts;
  const { deletion } = (await documents.get(pool, "experiment", experiment)) ?? {};
  const until = deletion === undefined ? {} : { graceEndMs: deletion.graceEndMs };
  return { position: String(position || backend.position), ...until, checkpoints, kept };
}
