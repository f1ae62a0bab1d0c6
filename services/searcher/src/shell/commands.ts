/**
 * The commands of the clients of custom searches, sent by the gateway. A batch is one commit to the search's stream.
 */
import type { Plain } from "@trainyard/contracts";
import type { PostSearchOperations, SearchOperationsPosted } from "@trainyard/contracts/commands";
import { isExperimentId, isRejection, type Rejection, reject } from "@trainyard/kernel";
import type { CommandContext, Executor, CommandTable } from "@trainyard/runtime";
import { operationResults } from "@trainyard/search";
import { searches } from "../streams.ts";

export function commandTable(executor: Executor): CommandTable<"searcher"> {
  return {
    PostSearchOperations: (request, context) => post(executor, request, context),
  };
}

/**
 * Posts operations. The answer is read from the search with the operations applied, so a repeated request gets the same
 * answer.
 */
async function post(
  executor: Executor,
  { experiment, operations, restsOn }: Plain<PostSearchOperations>,
  { identity }: CommandContext,
): Promise<Plain<SearchOperationsPosted> | Rejection> {
  if (!isExperimentId(experiment)) {
    return reject("experiment_not_found", `"${experiment}" is not the number of an experiment`);
  }
  let answer: Pick<Plain<SearchOperationsPosted>, "version" | "results"> = {
    version: 0,
    results: [],
  };
  const committed = await executor.execute(identity, async (work) => {
    const decided = await work.decide(searches, experiment, {
      type: "PostOperations",
      operations,
      restsOn: restsOn ?? null,
    });
    if (isRejection(decided)) return decided;
    answer = await work.look(searches, experiment, ({ state }) => ({
      version: state.version,
      results: operationResults(state, operations),
    }));
    return undefined;
  });
  return isRejection(committed) ? committed : { ...answer, position: committed.position };
}
