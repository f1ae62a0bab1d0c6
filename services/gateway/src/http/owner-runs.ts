/**
 * The rights that the run of a task has as a user. The run of a command, a shell or a notebook may make the calls with
 * `for_owner` with the rights that its task's owner has at each call, within the limits of the token that started the
 * task, until the run or that token has ended or the owner is disabled. A task that a person started in a session has
 * no token. Events record `task:t12`, and the task's owner owns what the run creates.
 *
 * A run's token has no end of its own, and people save it in notebooks. So the end of the run is read from the log
 * itself, at most `ownerRunsConfirmedMs` before each call: a replica that follows the log late refuses no later.
 */
import { isUser, userOf } from "@trainyard/access";
import { shortNameOf } from "@trainyard/contracts";
import { type EventLog, isFullPage } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { type FoldCache, runtimeLimits } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import { courseOfRun, creatorOfTask } from "../streams.ts";
import {
  callerOfPerson,
  callerOfToken,
  type TaskRunCaller,
  type TokenLookup,
  type UserCaller,
} from "./caller.ts";
import { httpLimits } from "./limits.ts";
import { Problem } from "./problem.ts";

export type OwnerRunsDeps = {
  readonly log: EventLog;
  readonly cache: FoldCache;
  readonly token: TokenLookup;
  /** Throws a Problem of 401 if the user is disabled. */
  readonly requireEnabled: (user: string) => Promise<void>;
  readonly clock: Clock;
};

/** The kinds of tasks in which people work. A TensorBoard only reads the files of its trials. */
const kindsWithRights: ReadonlySet<string> = new Set(["command", "shell", "notebook"]);

export class OwnerRuns {
  readonly #deps: OwnerRunsDeps;
  /** When runs were last seen without an end, by the monotonic clock. */
  readonly #openAtMs: LRUCache<string, number>;

  constructor(deps: OwnerRunsDeps) {
    this.#deps = deps;
    const maxSize = httpLimits.ownerRunsMax;
    this.#openAtMs = new LRUCache({ maxSize, sizeCalculation: () => 1 });
  }

  /** Returns the caller that the run is as a user. Throws a Problem if the run has no rights, or none any more. */
  async userOf(run: TaskRunCaller): Promise<UserCaller> {
    const { cache, token, requireEnabled, clock } = this.#deps;
    const { state: creator } = await cache.load(creatorOfTask, run.task);
    if (creator === null || !kindsWithRights.has(creator.kind)) throw noRights(run);
    const { tokenId, owner } = creator;
    if (tokenId === "" && !isUser(owner)) throw noRights(run);
    await this.requireOpen(run.allocation);
    const user =
      tokenId === ""
        ? callerOfPerson(userOf(owner))
        : callerOfToken(await token(tokenId), clock.nowMs());
    await requireEnabled(user.user);
    return { ...user, authid: `task:${run.task}`, owner, run };
  }

  /** Throws a Problem if the run has ended. */
  async requireOpen(allocation: string): Promise<void> {
    if (!(await this.#hasEnded(allocation))) return;
    throw new Problem(403, "run_ended", `run ${allocation} has ended, and its token with it`);
  }

  async #hasEnded(allocation: string): Promise<boolean> {
    const { cache, log, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const openAtMs = this.#openAtMs.get(allocation) ?? Number.NEGATIVE_INFINITY;
    const { state, version } = await cache.load(courseOfRun, allocation);
    if (state.state === "ended") return true;
    if (nowMs - openAtMs < httpLimits.ownerRunsConfirmedMs) return false;
    for (let after = version; ; ) {
      const page = await log.read(`allocation-${allocation}`, after, runtimeLimits.pageEvents);
      if (page.some(({ type }) => shortNameOf(type) === "AllocationEnded")) return true;
      if (!isFullPage(page, runtimeLimits.pageEvents)) break;
      after = page.at(-1)?.version ?? after;
    }
    this.#openAtMs.set(allocation, nowMs);
    return false;
  }
}

/** The refusal of a call that the runs of a task's kind may not make. */
export function noRights({ task }: TaskRunCaller): Problem {
  return new Problem(403, "not_for_tasks", `${task} is a task: its run may not make this call`);
}
