/** Lists subscriptions with how far each has come, and the sinks that the operator has set up. */
import type { Plain } from "@trainyard/contracts";
import type {
  ListSubscriptions,
  SubscriptionFacts,
  SubscriptionPage,
} from "@trainyard/contracts/commands";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, type Rejection, reject } from "@trainyard/kernel";
import type { EventPlace } from "@trainyard/outbound";
import { feedsLimits } from "../../limits.ts";
import { placeOf } from "../dispatch/dispatcher.ts";
import type { Rooms } from "../dispatch/dispatcher.ts";
import type { ProgressRow } from "../dispatch/progress.ts";
import type { Subscription } from "../view/subscriptions-view.ts";
import type { SubscriptionDeps } from "./commands.ts";
import type { DeliveryFacts } from "../dispatch/delivery-room.ts";

export async function listSubscriptions(
  deps: SubscriptionDeps,
  { name, delivery, tokenId, owner, pageSize, pageToken }: Plain<ListSubscriptions>,
): Promise<Plain<SubscriptionPage> | Rejection> {
  const { log, subscriptions: known } = deps;
  if (pageToken !== "" && !/^[A-Za-z0-9._:-]+$/.test(pageToken)) {
    return reject("invalid_request", "invalid page_token");
  }
  await known.view.reach(await log.head());
  const all: (Subscription | string)[] = [...(await known.list(name))].filter(
    ({ reader }) =>
      (tokenId === "" || [reader.tokenId, ...reader.ancestors].includes(tokenId)) &&
      (owner === "" || reader.owner === owner),
  );
  const operated =
    tokenId === "" && owner === "" ? deps.operatorSinks.map((sink) => sink.name) : [];
  all.push(...operated.filter((one) => name === "" || one === name));
  const size = Math.min(pageSize === 0 ? feedsLimits.pageMax : pageSize, feedsLimits.pageMax);
  const wanted = all
    .filter((one) => delivery === "" || deliveryOf(one) === delivery)
    .filter((one) => pageToken === "" || nameOf(one) > pageToken)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const page = wanted.slice(0, size);
  const last = page.at(-1);
  const more = wanted.length > page.length && last !== undefined;
  return { items: await factsOf(deps, page), nextPageToken: more ? nameOf(last) : "" };
}

const nameOf = (one: Subscription | string): string => (typeof one === "string" ? one : one.name);
const deliveryOf = (one: Subscription | string): string =>
  typeof one === "string" ? one : one.delivery;

async function factsOf(
  deps: SubscriptionDeps,
  page: readonly (Subscription | string)[],
): Promise<Plain<SubscriptionFacts>[]> {
  const rows = await deps.progress.rows(page.map(nameOf));
  const added = new Map<string, DeliveryFacts>();
  for (const kind of ["nats", "webhook"] as const satisfies readonly (keyof Rooms)[]) {
    const names = page.filter((one) => deliveryOf(one) === kind).map(nameOf);
    if (names.length === 0) continue;
    for (const [name, facts] of await deps.rooms[kind].facts(names)) added.set(name, facts);
  }
  const head = await deps.log.head();
  const items: Plain<SubscriptionFacts>[] = [];
  for (const one of page) {
    const row = rows.get(nameOf(one));
    const place = await deliveredTo(deps, one, row);
    const lagSeconds = await lagOf(deps, place, head);
    items.push({
      ...ofSubscription(one),
      ...ofRow(typeof one === "string" || row?.life === one.life ? row : undefined),
      ...{ position: place.position, event: place.event },
      lagEvents: Math.max(0, head - place.position),
      lagSeconds,
      ...{ url: "", headerNames: [], waiting: 0 },
      ...added.get(nameOf(one)),
    });
  }
  return items;
}

function deliveredTo(
  deps: SubscriptionDeps,
  one: Subscription | string,
  row: ProgressRow | undefined,
): Promise<EventPlace> {
  if (typeof one !== "string") return placeOf(deps, one);
  return Promise.resolve({ position: row?.position ?? 0, event: row?.event ?? "" });
}

async function lagOf(
  { log, clock }: { readonly log: EventLog; readonly clock: Clock },
  { position }: EventPlace,
  head: number,
): Promise<number> {
  if (position >= head) return 0;
  const [next] = await log.readAll(position, 1);
  return next === undefined ? 0 : Math.max(0, clock.nowMs() - next.timeMs) / 1_000;
}

function ofRow(row: ProgressRow | undefined) {
  const { acknowledgedAtMs = null, lastError = "", lastErrorAtMs = null } = row ?? {};
  return {
    lastError,
    ...(acknowledgedAtMs === null ? {} : { acknowledgedAtMs }),
    ...(lastErrorAtMs === null ? {} : { lastErrorAtMs }),
  };
}

function ofSubscription(one: Subscription | string) {
  if (typeof one === "string") {
    return { name: one, delivery: one, state: "ACTIVE", reason: "", createdAtMs: 0 };
  }
  const { name, delivery, stopped, disabled, filter, reader, createdAtMs } = one;
  const { expiresAfterMs, webhook } = one;
  return {
    ...{ name, delivery, filter, reader, createdAtMs },
    state: disabled !== null ? "DISABLED" : stopped !== null ? "STOPPED" : "ACTIVE",
    reason: disabled ?? stopped ?? "",
    ...(expiresAfterMs === null ? {} : { expiresAfterMs }),
    ...(webhook === null ? {} : { webhook }),
  };
}
