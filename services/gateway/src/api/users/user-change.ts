import type { Backend } from "../../backend.ts";
import type { UserCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { commit, rejectionOf } from "../../people/commit.ts";
import type { UserCommand } from "../../people/core/user.ts";
import { users } from "../../streams.ts";

/** Commits a decision about one user. Returns the position. */
export const change = (
  backend: Backend,
  id: string,
  command: UserCommand,
  context: RequestContext,
): Promise<string> =>
  commit(backend, context, async (work) => rejectionOf(await work.decide(users, id, command)));

export function userCaller({ caller }: Pick<RequestContext, "caller">): UserCaller {
  if (caller.kind === "user") return caller;
  throw new Problem(403, "not_for_runs", "a run's token is no user");
}
