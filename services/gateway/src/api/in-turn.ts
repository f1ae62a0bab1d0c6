import { countedAs } from "../http/caller.ts";
import type { FairQueue } from "../http/fair-queue.ts";
import type { RequestContext } from "../http/request-context.ts";

/** Runs a request's task in its caller's turn; a request whose client leaves before that gives up its turn. */
export const inTurn = <Result>(
  queue: FairQueue,
  { caller, signal }: Pick<RequestContext, "caller" | "signal">,
  task: () => Promise<Result>,
): Promise<Result> => queue.run(countedAs(caller), task, signal);
