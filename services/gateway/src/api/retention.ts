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
import { assert } from "@trainyard/kernel";
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
  const ask = (limit: number, policy?: Settings) =>
    backend.command(
      "checkpoint-gc",
      ExplainRetentionSchema,
      { experiment, checkpoint: "", limit, after, ...(policy && { policy }) },
      RetentionPageSchema,
      context,
    );
  let asked: Settings | undefined;
  const { saveExperimentBest, saveTrialBest, saveTrialLatest } = request;
  const given = { saveExperimentBest, saveTrialBest, saveTrialLatest };
  if (Object.values(given).some((one) => one !== undefined)) {
    const { policy: held } = await ask(1);
    assert(held !== undefined, "a page of verdicts has the policy in force");
    asked = withGiven(held, given);
  }
  const { verdicts, more, policy } = await ask(pageSize(request.pageSize), asked);
  return {
    items: verdicts,
    nextPageToken: more ? (verdicts.at(-1)?.checkpoint ?? "") : "",
    ...(policy && { policy }),
  };
}

type Settings = Plain<RetentionSettings>;

/** Returns the policy with the given settings; the others stay as they are. */
function withGiven(
  held: Settings,
  given: { readonly [Setting in keyof Settings]: number | undefined },
): Settings {
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...held, ...(Object.fromEntries(changes) as Partial<Settings>) };
}

function positionOf(backend: Backend, { position }: { readonly position: number }) {
  return { position: String(position || backend.position) };
}
