/** The calls of people about checkpoints and their retention. The registry pins; checkpoint-gc deletes and explains. */
import { isSameUser, type Rights } from "@trainyard/access";
import type { Plain, RequestOf } from "@trainyard/contracts";
import type { RetentionSettings, RetentionVerdict } from "@trainyard/contracts/commands";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { notFound } from "../../http/problem.ts";
import { creatorOf } from "../../http/caller.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { requireFor } from "../rights/guard.ts";
import { HiddenNames } from "../rights/masks.ts";
import { findObject } from "../rights/objects.ts";
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
      const holder = backend.parts.directory.authidOf(name);
      await refusePinOfOther(backend, checkpoint, holder, context);
      const request = { checkpoint, holder };
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
      const [masked = verdict] = await maskedVerdicts(backend, context.rights, [verdict]);
      return masked;
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
    items: await maskedVerdicts(backend, context.rights, verdicts),
    nextPageToken: more ? (verdicts.at(-1)?.checkpoint ?? "") : "",
    ...(policy && { policy }),
  };
}

/** Returns verdicts whose reasons do not name objects that the caller may not see. */
async function maskedVerdicts(
  backend: Backend,
  rights: Rights,
  verdicts: readonly Plain<RetentionVerdict>[],
): Promise<Plain<RetentionVerdict>[]> {
  const texts = verdicts.flatMap(({ keptBy, waits }) => [...keptBy, waits]);
  const hidden = await HiddenNames.among(backend, rights, texts);
  return verdicts.map((verdict) => ({
    ...verdict,
    keptBy: verdict.keptBy.map((reason) => hidden.masked(reason)),
    waits: hidden.masked(verdict.waits),
  }));
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

/**
 * Throws a Problem of 403 for another person's pin unless the caller may delete the checkpoint: without the pin its
 * policy may.
 */
async function refusePinOfOther(
  backend: Backend,
  checkpoint: string,
  holder: string,
  { caller, rights }: RequestContext,
): Promise<void> {
  if (holder === "" || isSameUser(holder, creatorOf(caller))) return;
  if (rights.everywhere("experiment_control")) return;
  const found = await findObject(backend, "checkpoint", checkpoint);
  requireFor(rights, "experiment_control", "checkpoint", checkpoint, found);
}
