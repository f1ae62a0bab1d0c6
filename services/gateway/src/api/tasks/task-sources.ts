/** The experiments and trials whose files a TensorBoard shows. */
import type { Rights } from "@trainyard/access";
import type { TaskKind } from "@trainyard/experiment-config/recorded";
import { isExperimentId, parseTrialId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { isSeenBy } from "../rights/objects.ts";

/** The agent keeps the files of each, and asks for all of them every 30 s. */
const sourcesMax = 100;

/** Returns the sources without repetitions. Throws a Problem if one does not exist, or if the kind takes none. */
export async function checkedSources(
  backend: Backend,
  kind: TaskKind,
  asked: readonly string[],
  { rights }: Pick<RequestContext, "rights">,
): Promise<readonly string[]> {
  const sources = [...new Set(asked)];
  if (kind !== "tensorboard") {
    if (sources.length > 0) throw refused(`a ${kind} has no sources: a tensorboard has`);
    return [];
  }
  if (sources.length === 0) {
    throw refused("a tensorboard needs an experiment, such as 12, or a trial, such as 13.4");
  }
  if (sources.length > sourcesMax) {
    throw refused(`a tensorboard shows at most ${sourcesMax} experiments and trials`);
  }
  for (const source of sources) await refuseUnknown(backend, source, rights);
  return sources;
}

async function refuseUnknown(backend: Backend, source: string, rights: Rights): Promise<void> {
  const shown = JSON.stringify(source.slice(0, 60));
  const kind = isExperimentId(source) ? "experiment" : "trial";
  if (kind === "trial" && parseTrialId(source) === null) {
    throw refused(`${shown} is neither an experiment, such as 12, nor a trial, such as 13.4`);
  }
  const isThere = await isSeenBy(rights, backend, kind, source);
  if (!isThere || (await backend.find(kind, source)) === undefined) {
    throw refused(`there is no ${kind} ${source}`);
  }
}

function refused(detail: string): Problem {
  const problems = [{ path: "sources", detail }];
  return new Problem(400, "invalid_request", `sources: ${detail}`, { problems });
}
