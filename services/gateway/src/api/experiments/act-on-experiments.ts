/** Applies one verb to each experiment that a request names; a filter is not accepted. */
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { ExperimentsActedOn } from "@trainyard/contracts/commands";
import { deriveCommitId } from "@trainyard/event-log";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";

export async function actOnExperiments(
  backend: Backend,
  { experiments: all, verb, reason, dryRun }: RequestOf<"actOnExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"actOnExperiments">> {
  return inCommits(backend, "act-on-experiments", all, context, (experiments, part) =>
    backend.command(
      "experiments",
      "ActOnExperiments",
      { experiments: [...experiments], verb, reason, dryRun },
      part,
    ),
  );
}

/**
 * Splits a large request into several commits, each with its derived id. A repeat with the same key finds the commits
 * that were written.
 */
export async function inCommits(
  backend: Backend,
  what: string,
  experiments: readonly string[],
  context: RequestContext,
  ask: (
    experiments: readonly string[],
    context: RequestContext,
  ) => Promise<Plain<ExperimentsActedOn>>,
): Promise<ReplyOf<"actOnExperiments">> {
  refuseList(experiments);
  const items: ReplyOf<"actOnExperiments">["items"][number][] = [];
  let last = 0;
  const { actedOnTogether: size } = apiLimits;
  for (let from = 0; from < experiments.length; from += size) {
    const commitId = deriveCommitId(what, context.commitId, String(from));
    const answer = await ask(experiments.slice(from, from + size), { ...context, commitId });
    last = Math.max(last, answer.position);
    for (const { experiment, changed, code, detail } of answer.items) {
      const outcome = changed ? "changed" : code === "" ? "unchanged" : "refused";
      items.push({ experiment, outcome, code, detail });
    }
  }
  await backend.reach(last);
  return { position: String(last || backend.position), items };
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
