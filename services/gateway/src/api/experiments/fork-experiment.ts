/**
 * Forks an experiment: creates a new one with the code of another, and with its configuration and changes. The fork
 * starts as its configuration says, or from a checkpoint of the other experiment. Then its `source_checkpoint_uuid`
 * keeps that checkpoint. Only the token that created the other experiment gets its secrets: a fork runs code of its
 * caller, which could print them. Another caller must replace the masked values.
 */
import { decodeEvent, type EventData, type ReplyOf, type RequestOf } from "@trainyard/contracts";
import { maskedDocument, resubmitted } from "@trainyard/experiment-config";
import { isExperimentId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { GatewayConfig } from "../../config.ts";
import { creatorOf, tokenOf } from "../../http/caller.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { isSeenBy } from "../rights/objects.ts";
import { loadSubmission } from "../../spaces/submissions.ts";
import { acceptConfig, submit } from "./create-experiment.ts";
import { originText } from "./warm-start.ts";

type Fork = RequestOf<"forkExperiment">;

export async function forkExperiment(
  backend: Backend,
  checkpointStorage: GatewayConfig["checkpointStorage"],
  request: Fork,
  context: RequestContext,
): Promise<ReplyOf<"forkExperiment">> {
  const { experiment, paused } = request;
  const parent = { experiment, position: backend.position };
  const created = await creationOf(backend, experiment);
  const known = await loadSubmission(backend, created.submissionDigest);
  const again = resubmitted(created.config ?? {}, known?.defaulted);
  // The sessions of all people have no token.
  const isCreator =
    created.tokenId === tokenOf(context.caller) && created.owner === creatorOf(context.caller);
  const config = request.config || JSON.stringify(isCreator ? again : maskedDocument(again));
  const overrides = [...request.overrides, ...(await sourceOf(backend, request, context))];
  const accepted = await acceptConfig(backend, checkpointStorage, { config, overrides }, context);
  if (request.validateOnly) return { warnings: accepted.warnings, position: backend.position };
  const { contextDigest: digest, contextBytes: bytes } = created;
  const code = digest === "" ? null : { digest, bytes };
  const { client = "", repository } = known ?? {};
  const submitted = { text: config, overrides, client, repository };
  return submit(backend, { ...accepted, submitted, code, paused, parent }, context);
}

/** Reads from the log how an experiment was created: the read model has only its latest name and notes. */
export async function creationOf(
  backend: Backend,
  experiment: string,
): Promise<EventData<"ExperimentCreated">> {
  const isThere = (await backend.find("experiment", experiment)) !== undefined;
  const [first] =
    isExperimentId(experiment) && isThere
      ? await backend.parts.log.read(`experiment-${experiment}`, 0, 1)
      : [];
  const event = first === undefined ? null : decodeEvent(first);
  if (event?.type !== "ExperimentCreated") throw notFound("experiment", experiment);
  return event.data;
}

/** Returns the checkpoint to start from as overrides of the configuration. */
async function sourceOf(
  backend: Backend,
  { experiment, checkpoint }: Fork,
  { rights }: RequestContext,
): Promise<readonly string[]> {
  if (checkpoint === "") return [];
  const found = (await isSeenBy(rights, backend, "checkpoint", checkpoint))
    ? await backend.find("checkpoint", checkpoint)
    : undefined;
  if (found === undefined) throw notFound("checkpoint", checkpoint);
  if (found.experiment !== experiment) {
    const detail = `checkpoint ${checkpoint} is of ${originText(found)}, not of experiment ${experiment}`;
    throw new Problem(409, "foreign_checkpoint", detail);
  }
  return [
    `searcher.source_trial_id=${JSON.stringify(found.trial)}`,
    `searcher.source_checkpoint_uuid=${JSON.stringify(checkpoint)}`,
  ];
}
