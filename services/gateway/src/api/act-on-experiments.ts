/** One verb on each of the experiments that a request names: never on all that match something. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { ActOnExperimentsSchema, ExperimentsActedOnSchema } from "@trainyard/contracts/commands";
import { deriveCommitId } from "@trainyard/event-log";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "../shell/backend.ts";

/** Large requests are several commits, each with an id of its own: a repeat with the same key finds those that were written. */
export async function actOnExperiments(
  backend: Backend,
  { experiments, verb, reason, dryRun }: RequestOf<"actOnExperiments">,
  context: RequestContext,
): Promise<ReplyOf<"actOnExperiments">> {
  refuseList(experiments);
  const items: ReplyOf<"actOnExperiments">["items"][number][] = [];
  let last = 0;
  const { actedOnTogether: size } = gatewayLimits;
  for (let from = 0; from < experiments.length; from += size) {
    const commitId = deriveCommitId("act-on-experiments", context.commitId, String(from));
    const message = { experiments: experiments.slice(from, from + size), verb, reason, dryRun };
    const schemas = [ActOnExperimentsSchema, message, ExperimentsActedOnSchema] as const;
    const answer = await backend.command("experiments", ...schemas, { ...context, commitId });
    last = Math.max(last, answer.position);
    for (const { experiment, changed, code, detail } of answer.items) {
      const outcome = changed ? "changed" : code === "" ? "unchanged" : "refused";
      items.push({ experiment, outcome, code, detail });
    }
  }
  await backend.reach(last);
  return { position: String(last || backend.position), items };
}

/** Before anything is changed. */
function refuseList(experiments: readonly string[]): void {
  const { actedOnMax } = gatewayLimits;
  const invalid = (detail: string) => new Problem(400, "invalid_request", detail);
  if (experiments.length === 0) throw invalid("name at least one experiment");
  if (experiments.length > actedOnMax) {
    throw invalid(`there are ${experiments.length} experiments and may be ${actedOnMax}`);
  }
  const seen = new Set<string>();
  for (const id of experiments) {
    if (seen.has(id)) throw invalid(`experiment ${JSON.stringify(id)} is named twice`);
    seen.add(id);
  }
}
