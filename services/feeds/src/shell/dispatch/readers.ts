/** The present rights of the creators of subscriptions: a lost role and a disabled user count at once. */
import { accessId, noRights, type Rights, rightsOf, userOf } from "@trainyard/access";
import type { Plain } from "@trainyard/contracts";
import type { SubscriptionReader } from "@trainyard/contracts/events";
import { categoryOf } from "@trainyard/kernel";
import {
  jobsNamedIn,
  type LeavingEvent,
  mayRead,
  maySee,
  objectsOf,
  readObjects,
  readsAll,
} from "@trainyard/outbound";
import type { FoldCache } from "@trainyard/runtime";
import { access, disabled, tokenLimits } from "../../streams.ts";
import type { Subscription, SubscriptionsView } from "../view/subscriptions-view.ts";

/** The categories of the folds by which the right to read is decided. */
const deciding: ReadonlySet<string> = new Set([
  "access",
  "user",
  "token",
  "checkpoint",
  "model",
  "workspace",
  "project",
]);

export type ReadersDeps = {
  readonly cache: Pick<FoldCache, "load" | "observe" | "forget">;
  readonly subscriptions: Pick<SubscriptionsView, "view" | "facts" | "list">;
};

export class Readers {
  readonly #deps: ReadersDeps;

  constructor(deps: ReadersDeps) {
    this.#deps = deps;
  }

  /** Updates the folds with events that the reactions may not have reached yet. */
  observed(events: readonly LeavingEvent[]): void {
    const { cache } = this.#deps;
    for (const { stored } of events) {
      if (!deciding.has(categoryOf(stored.stream))) continue;
      try {
        cache.observe(stored);
      } catch {
        // The event is of a newer version: a reader of its stream gets the reason.
        cache.forget(stored.stream);
      }
    }
  }

  /** Returns whether the creator of a subscription may read each of some events, as of the last of them or later. */
  async mayRead(
    { name, reader }: Pick<Subscription, "name" | "reader">,
    events: readonly LeavingEvent[],
  ): Promise<(event: LeavingEvent) => boolean> {
    const rights = await this.#rightsOf(reader);
    if (readsAll(rights)) return () => true;
    const { cache, subscriptions } = this.#deps;
    await subscriptions.view.reach(events.at(-1)?.stored.position ?? 0);
    // The events of the subscription itself name the runs that its creator asked for.
    const isOwn = ({ stored }: LeavingEvent): boolean => stored.stream === `subscription-${name}`;
    const objects = events.flatMap((event) => (isOwn(event) ? jobsNamedIn : objectsOf)(event));
    const jobs = (ids: readonly string[]) => subscriptions.facts(ids);
    const known = await readObjects({ cache, jobs }, objects);
    return (event) =>
      isOwn(event)
        ? jobsNamedIn(event).every((job) => maySee(rights, job, known))
        : mayRead(rights, event, known);
  }

  /** Whether the creator of a webhook may still read an event that was selected earlier. */
  async mayStillRead(webhook: string, event: LeavingEvent): Promise<boolean> {
    const { cache, subscriptions } = this.#deps;
    if (!(await cache.load(access, accessId)).state.hasUsers) return true;
    const [found] = await subscriptions.list(webhook);
    return found !== undefined && (await this.mayRead(found, [event]))(event);
  }

  async #rightsOf({ owner, tokenId }: Plain<SubscriptionReader>): Promise<Rights> {
    const { cache } = this.#deps;
    const { state } = await cache.load(access, accessId);
    const user = userOf(owner);
    if (state.hasUsers && (await cache.load(disabled, user)).state) return noRights(owner);
    const limits = tokenId === "" ? [] : (await cache.load(tokenLimits, tokenId)).state;
    return rightsOf(state, user, owner, limits);
  }
}
