import { type Rejection, isRejection } from "@trainyard/kernel";
import { accepted, type CommandContext, type Executor, type Work } from "@trainyard/runtime";
import type { Plain } from "@trainyard/contracts";
import type { Accepted } from "@trainyard/contracts/commands";
import type { Guard } from "../core/reconcile/guard.ts";
import type { ClusterFollower } from "./follower.ts";

export type CommandDeps = {
  readonly follower: ClusterFollower;
  readonly executor: Executor;
  readonly guard: Guard;
  /** Called because the committed events may require decisions. */
  readonly committed: () => void;
};

/**
 * Runs a command whose decision depends on the fold and on streams: the fold is level with the log when `decide` runs,
 * and `decide` runs again if a stream has moved. `of` names the subject of a rejection's detail.
 */
export async function decided(
  { follower, executor, committed }: CommandDeps,
  { identity }: CommandContext,
  of: string,
  decide: (work: Work) => Promise<readonly unknown[] | Rejection>,
): Promise<Plain<Accepted> | Rejection> {
  const result = await executor.execute(identity, async (work) => {
    await follower.catchUp();
    const events = await decide(work);
    return isRejection(events) ? { ...events, detail: `${of}: ${events.detail}` } : undefined;
  });
  committed();
  return accepted(result);
}
