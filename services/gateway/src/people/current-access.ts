/** The roles of the moment. The fold is in memory and follows the log, so no call waits for the database. */
import { accessId, type AccessState, noRights, type Rights, rightsOf } from "@trainyard/access";
import { type FoldCache, foldOf } from "@trainyard/runtime";
import type { Caller } from "../http/caller.ts";
import { userDisabled } from "../http/problem.ts";
import { access, users } from "../streams.ts";

const accessFold = foldOf(access);
const userFold = foldOf(users);

export class CurrentAccess {
  readonly #cache: FoldCache;

  constructor(cache: FoldCache) {
    this.#cache = cache;
  }

  async state(): Promise<AccessState> {
    return (await this.#cache.load(accessFold, accessId)).state;
  }

  /** Throws a Problem of 401 if the user is disabled. */
  async requireEnabled(user: string): Promise<void> {
    if (user === "" || !(await this.state()).hasUsers) return;
    const { state } = await this.#cache.load(userFold, user);
    if (!state.disabled) return;
    throw userDisabled();
  }

  /** Returns what a caller may do now. A run may do nothing beyond the calls that admit it. */
  async rightsOf(caller: Caller): Promise<Rights> {
    if (caller.kind === "run" || caller.user === "") return noRights(caller.authid);
    return rightsOf(await this.state(), caller.user, caller.owner, caller.limits);
  }
}
