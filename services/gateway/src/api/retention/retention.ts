/** The calls of people about checkpoints and their retention. The registry pins; checkpoint-gc deletes and explains. */
import type { Plain, RequestOf } from "@trainyard/contracts";
import type { RetentionSettings } from "@trainyard/contracts/commands";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { notFound } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { pageSize } from "../paging.ts";

export function retentionHandlers(backend: Backend) {
  const pin = async (
    checkpoint: string,
    reason: string,
    condemnedOnly: boolean,
    context: RequestContext,
  ) => {
    const request = { checkpoint, reason, condemnedOnly };
    const accepted = await backend.command("registry", "PinCheckpoint", request, context);
    return positionOf(backend, accepted);
  };
  return {
    pinCheckpoint: ({ checkpoint, reason }, context) => pin(checkpoint, reason, false, context),
    // The pin undoes the deletion: checkpoint-gc spares a pinned checkpoint.
    undeleteCheckpoint: ({ checkpoint, reason }, context) => pin(checkpoint, reason, true, context),
    unpinCheckpoint: async ({ checkpoint, holder: name }, context) => {
      const request = { checkpoint, holder: backend.parts.directory.authidOf(name) };
      return positionOf(
        backend,
        await backend.command("registry", "UnpinCheckpoint", request, context),
      );
    },
    verifyCheckpoint: ({ checkpoint }, context) => {
      return backend.command("registry", "VerifyCheckpoint", { checkpoint }, context);
    },
    auditStorage: (request, context) => {
      return backend.command("registry", "AuditStorage", request, context);
    },
    deleteCheckpoint: async (request, context) => {
      const planned = await backend.command("checkpoint-gc", "DeleteCheckpoint", request, context);
      return { ...positionOf(backend, planned), graceEndMs: planned.graceEndMs };
    },
    setRetentionPolicy: async ({ experiment, reason, ...policy }, context) => {
      await backend.get("experiment", experiment);
      const request = { experiment, policy, reason };
      return positionOf(
        backend,
        await backend.command("checkpoint-gc", "SetRetentionPolicy", request, context),
      );
    },
    explainCheckpoint: async ({ checkpoint }, context) => {
      const { experiment } = await backend.get("checkpoint", checkpoint);
      const request = { experiment, checkpoint, limit: 1, after: "" };
      const { verdicts } = await backend.command(
        "checkpoint-gc",
        "ExplainRetention",
        request,
        context,
      );
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
      "ExplainRetention",
      { experiment, checkpoint: "", limit, after, ...(policy && { policy }) },
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
