/** The calls of people about checkpoints and their retention. The registry pins; checkpoint-gc deletes and explains. */
import type { Plain, RequestOf } from "@trainyard/contracts";
import {
  AcceptedSchema,
  AuditStorageSchema,
  DeleteCheckpointSchema,
  DeletionPlannedSchema,
  ExplainRetentionSchema,
  PinCheckpointSchema,
  RetentionPageSchema,
  type RetentionSettings,
  SetRetentionPolicySchema,
  StorageAuditSchema,
  UnpinCheckpointSchema,
  VerificationSchema,
  VerifyCheckpointSchema,
} from "@trainyard/contracts/commands";
import { notFound } from "../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import { pageSize } from "./paging.ts";

export function retentionHandlers(backend: Backend) {
  const pin = async (
    checkpoint: string,
    reason: string,
    condemnedOnly: boolean,
    context: RequestContext,
  ) => {
    const request = { checkpoint, reason, condemnedOnly };
    const accepted = await backend.command(
      "registry",
      PinCheckpointSchema,
      request,
      AcceptedSchema,
      context,
    );
    return positionOf(backend, accepted);
  };
  return {
    pinCheckpoint: ({ checkpoint, reason }, context) => pin(checkpoint, reason, false, context),
    // The pin undoes the deletion: checkpoint-gc spares a pinned checkpoint.
    undeleteCheckpoint: ({ checkpoint, reason }, context) => pin(checkpoint, reason, true, context),
    unpinCheckpoint: async (request, context) => {
      const schemas = [UnpinCheckpointSchema, request, AcceptedSchema] as const;
      return positionOf(backend, await backend.command("registry", ...schemas, context));
    },
    verifyCheckpoint: ({ checkpoint }, context) => {
      const schemas = [VerifyCheckpointSchema, { checkpoint }, VerificationSchema] as const;
      return backend.command("registry", ...schemas, context);
    },
    auditStorage: (request, context) => {
      const schemas = [AuditStorageSchema, request, StorageAuditSchema] as const;
      return backend.command("registry", ...schemas, context);
    },
    deleteCheckpoint: async (request, context) => {
      const schemas = [DeleteCheckpointSchema, request, DeletionPlannedSchema] as const;
      const planned = await backend.command("checkpoint-gc", ...schemas, context);
      return { ...positionOf(backend, planned), graceEndMs: planned.graceEndMs };
    },
    setRetentionPolicy: async ({ experiment, reason, ...policy }, context) => {
      await backend.get("experiment", experiment);
      const request = { experiment, policy, reason };
      const schemas = [SetRetentionPolicySchema, request, AcceptedSchema] as const;
      return positionOf(backend, await backend.command("checkpoint-gc", ...schemas, context));
    },
    explainCheckpoint: async ({ checkpoint }, context) => {
      const { experiment } = await backend.get("checkpoint", checkpoint);
      const request = { experiment, checkpoint, limit: 1, after: "" };
      const schemas = [ExplainRetentionSchema, request, RetentionPageSchema] as const;
      const { verdicts } = await backend.command("checkpoint-gc", ...schemas, context);
      const [verdict] = verdicts;
      if (verdict === undefined) throw notFound("complete checkpoint", checkpoint);
      return verdict;
    },
    previewRetention: async (request, context) => {
      await backend.get("experiment", request.experiment);
      return preview(backend, request, context);
    },
  } satisfies Partial<UnaryHandlers>;
}

async function preview(
  backend: Backend,
  request: RequestOf<"previewRetention">,
  context: RequestContext,
) {
  const { experiment, pageToken: after } = request;
  const ask = (limit: number, policy?: Plain<RetentionSettings>) =>
    backend.command(
      "checkpoint-gc",
      ExplainRetentionSchema,
      { experiment, checkpoint: "", limit, after, ...(policy && { policy }) },
      RetentionPageSchema,
      context,
    );
  const { saveExperimentBest: best, saveTrialBest, saveTrialLatest } = request;
  let asked: Plain<RetentionSettings> | undefined;
  if ([best, saveTrialBest, saveTrialLatest].some((one) => one !== undefined)) {
    const held = (await ask(1)).policy;
    asked = {
      saveExperimentBest: best ?? held?.saveExperimentBest ?? 0,
      saveTrialBest: saveTrialBest ?? held?.saveTrialBest ?? 0,
      saveTrialLatest: saveTrialLatest ?? held?.saveTrialLatest ?? 0,
    };
  }
  const { verdicts, more, policy } = await ask(pageSize(request.pageSize), asked);
  return {
    items: verdicts,
    nextPageToken: more ? (verdicts.at(-1)?.checkpoint ?? "") : "",
    ...(policy && { policy }),
  };
}

function positionOf(backend: Backend, { position }: { readonly position: number }) {
  return { position: String(position || backend.position) };
}
