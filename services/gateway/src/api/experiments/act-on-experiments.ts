/** Applies one verb to each experiment that a request names; a filter is not accepted. */
import type { PermissionName, Rights } from "@trainyard/access";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { ExperimentsActedOn } from "@trainyard/contracts/commands";
import { deriveCommitId } from "@trainyard/event-log";
import { isExperimentId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { isPermitted, notAllowed } from "../rights/guard.ts";
import { experimentsAt, type Found, isSeen } from "../rights/objects.ts";
import { apiLimits } from "../limits.ts";

export async function actOnExperiments(
  backend: Backend,
  { experiments: all, verb, reason, dryRun }: RequestOf<"actOnExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"actOnExperiments">> {
  const batch = {
    what: "act-on-experiments",
    experiments: all,
    permission: "experiment_control",
  } as const;
  return inCommits(backend, batch, context, (experiments, part) =>
    backend.command(
      "experiments",
      "ActOnExperiments",
      { experiments: [...experiments], verb, reason, dryRun },
      part,
    ),
  );
}

type Item = ReplyOf<"actOnExperiments">["items"][number];

type Batch = {
  /** The name from which the commits of the call get their ids. */
  readonly what: string;
  readonly experiments: readonly string[];
  /** The permission that the caller needs for each experiment. */
  readonly permission: PermissionName;
};

/**
 * Splits a large request into several commits, each with its derived id. A repeat with the same key finds the commits
 * that were written. The service is asked about those experiments only that the caller may change; the others are
 * refused, hidden ones as missing ones.
 */
export async function inCommits(
  backend: Backend,
  { what, experiments, permission }: Batch,
  context: RequestContext,
  ask: (
    experiments: readonly string[],
    context: RequestContext,
  ) => Promise<Plain<ExperimentsActedOn>>,
): Promise<ReplyOf<"actOnExperiments">> {
  refuseList(experiments);
  const refused = await refusalsOf(backend, experiments, permission, context.rights);
  const items = new Map<string, Item>(refused);
  let last = 0;
  const { actedOnTogether: size } = apiLimits;
  for (let from = 0; from < experiments.length; from += size) {
    const permitted = experiments.slice(from, from + size).filter((id) => !refused.has(id));
    // The service is asked for no experiment too, since it refuses an impossible request as a whole.
    const commitId = deriveCommitId(what, context.commitId, String(from));
    const answer = await ask(permitted, { ...context, commitId });
    last = Math.max(last, answer.position);
    for (const { experiment, changed, code, detail } of answer.items) {
      const outcome = changed ? "changed" : code === "" ? "unchanged" : "refused";
      items.set(experiment, { experiment, outcome, code, detail });
    }
  }
  await backend.reach(last);
  return {
    position: String(last || backend.position),
    items: experiments.flatMap((id) => items.get(id) ?? []),
  };
}

/** Returns the items of experiments that the caller may not see, or not change. */
async function refusalsOf(
  backend: Backend,
  experiments: readonly string[],
  permission: PermissionName,
  rights: Rights,
): Promise<ReadonlyMap<string, Item>> {
  if (rights.everywhere(permission)) return new Map();
  const known = await experimentsAt(backend, experiments);
  return new Map(
    experiments.filter(isExperimentId).flatMap((experiment) => {
      const found = known.get(experiment);
      const refusal = refusalOf(found, permission, rights);
      if (refusal === null) return [];
      return [[experiment, { experiment, outcome: "refused", ...refusal }] as const];
    }),
  );
}

function refusalOf(
  found: Found | undefined,
  permission: PermissionName,
  rights: Rights,
): { readonly code: string; readonly detail: string } | null {
  if (found === undefined || !isSeen(rights, found)) {
    return { code: "experiment_not_found", detail: "the experiment does not exist" };
  }
  if (isPermitted(rights, permission, found)) return null;
  const { code, message: detail } = notAllowed(permission, found.workspace);
  return { code, detail };
}

/** Refuses an invalid list before anything is changed. */
function refuseList(experiments: readonly string[]): void {
  const { actedOnMax } = apiLimits;
  const invalid = (detail: string) => new Problem(400, "invalid_request", detail);
  if (experiments.length === 0) throw invalid("name at least one experiment");
  if (experiments.length > actedOnMax) {
    const detail = `${experiments.length} experiments are named; one call may name ${actedOnMax}`;
    throw invalid(detail);
  }
  const seen = new Set<string>();
  for (const id of experiments) {
    if (seen.has(id)) throw invalid(`experiment ${JSON.stringify(id)} is named twice`);
    seen.add(id);
  }
}
