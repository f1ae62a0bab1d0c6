/**
 * The stream of events. A reader that is level with the log shares one read, and one encoding of each event, with all
 * others. One that is behind reads its own pages, in its caller's turn. A replay of one experiment or object reads its
 * streams by their index. While nothing matches, the reader gets its place now and then, so that it never reads the
 * same part of the log twice.
 */
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { EventFilter } from "@trainyard/contracts/events";
import type { SomeStreams } from "@trainyard/event-log";
import { isExperimentId, isRejection } from "@trainyard/kernel";
import {
  checkedPlace,
  type EventPlace,
  type Filter,
  type LeavingEvent,
  matches,
  mayRead,
  placeText,
  readFilter,
  readPlace,
  type RecentEvents,
} from "@trainyard/outbound";
import { streamsOfExperiment } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { countedAs } from "../../http/caller.ts";
import type { FairQueue } from "../../http/fair-queue.ts";
import { Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext, StreamItem } from "../../http/request-context.ts";
import { withNamedWorkspace } from "../named-workspace.ts";
import { apiLimits } from "../limits.ts";
import { subscriptionOf } from "../subscriptions/subscriptions.ts";
import { firstAtOrAfter } from "../first-at.ts";
import { factsOf } from "./facts.ts";

type Item = StreamItem<ReplyOf<"watchEvents">>;

/** The filter of a reader, and the place after which it begins. */
type Asked = {
  readonly filter: Filter;
  readonly from: EventPlace;
  /** The name of the subscription; empty without one. */
  readonly subscription: string;
};

export async function* watchEvents(
  backend: Backend,
  replays: FairQueue,
  request: RequestOf<"watchEvents">,
  context: RequestContext,
): AsyncGenerator<Item> {
  const { recent } = backend.parts;
  const inTurn = (read: Read): ReturnType<Read> => replays.run(countedAs(context.caller), read);
  const asked = await askedOf(backend, request, context);
  const { filter } = asked;
  const selected = async (events: readonly LeavingEvent[]): Promise<readonly LeavingEvent[]> => {
    // The rights are those of the moment: a role that was lost meanwhile shows nothing more.
    const rights = await backend.parts.access.rightsOf(context.caller);
    const { jobs, objects } = await factsOf(backend, { filter, rights }, events);
    return events.filter(
      (event) =>
        mayRead(rights, event, objects) && matches(filter, event, jobs.get(event.experiment)),
    );
  };
  let place = asked.from;
  const streams = streamsOf(asked.filter);
  if (streams !== null) {
    // The head is read first: what is appended meanwhile comes after the replay.
    const head = await backend.parts.log.head();
    const positions = await backend.parts.log.positionsOf(streams, place.position);
    for (let at = 0; at < positions.length && !context.signal.aborted; ) {
      const events = await inTurn(() => recent.at(positions.slice(at, at + replayPage)));
      if (events.length === 0) break;
      for (const event of await selected(events)) yield itemOf(event);
      at += events.length;
    }
    const reached = Math.max(head, positions.at(-1) ?? 0);
    if (reached > place.position) place = await placeAt(backend, reached);
  }
  const { noFollow } = request;
  yield* follow(backend, recent, { ...asked, from: place, selected, noFollow, inTurn }, context);
}

type Read = () => Promise<readonly LeavingEvent[]>;

type Following = Asked & {
  readonly noFollow: boolean;
  readonly selected: (events: readonly LeavingEvent[]) => Promise<readonly LeavingEvent[]>;
  /** Reads in the caller's turn. */
  readonly inTurn: (read: Read) => ReturnType<Read>;
};

async function* follow(
  backend: Backend,
  recent: RecentEvents,
  { from, subscription, selected, noFollow, inTurn }: Following,
  { signal }: RequestContext,
): AsyncGenerator<Item> {
  const { clock } = backend.parts;
  let place = from;
  let told = from.position;
  let toldMs = clock.monotonicMs();
  let { history } = recent;
  while (!signal.aborted) {
    const restMs = Math.max(0, toldMs + apiLimits.eventBookmarkMs - clock.monotonicMs());
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(restMs))]);
    const { position } = place;
    let events = recent.kept(position) ?? (await inTurn(() => recent.next(position)));
    if (events.length === 0 && !noFollow) events = await recent.after(position, waiting);
    if (recent.history !== history) {
      // The first reader begins the first history.
      history = recent.history;
      place = await placeOfText(backend, placeText(place));
    }
    const end = events.findIndex((event) => endOf(subscription, event) !== null);
    for (const event of await selected(end < 0 ? events : events.slice(0, end))) {
      yield itemOf(event);
      told = event.stored.position;
      toldMs = clock.monotonicMs();
    }
    const ending = events[end];
    const problem = ending === undefined ? null : endOf(subscription, ending);
    if (problem !== null) throw problem;
    const last = events.at(-1)?.stored;
    if (last !== undefined) place = { position: last.position, event: last.id };
    else if (noFollow) break;
    if (clock.monotonicMs() - toldMs < apiLimits.eventBookmarkMs) continue;
    if (place.position > 0) yield { id: placeText(place), message: null };
    told = place.position;
    toldMs = clock.monotonicMs();
  }
  if (noFollow && place.position > told) yield { id: placeText(place), message: null };
}

const replayPage = 100;

const itemOf = (event: LeavingEvent): Item => {
  const { position, id } = event.stored;
  return { id: placeText({ position, event: id }), message: event.shown, text: event.text };
};

async function askedOf(
  backend: Backend,
  request: RequestOf<"watchEvents">,
  context: RequestContext,
): Promise<Asked> {
  const { subscription, after, fromMs } = request;
  const given = filterOf(request);
  const isFiltered = Object.values(given).some((part) => part.length > 0);
  if (subscription !== "" && (isFiltered || fromMs !== undefined)) {
    const detail = "a subscription has a filter and a place of its own: leave out all others";
    throw new Problem(400, "invalid_request", detail);
  }
  if (after !== "" && fromMs !== undefined) {
    throw new Problem(400, "invalid_request", "after and from_ms exclude each other");
  }
  const found = subscription === "" ? null : await openSubscription(backend, subscription, context);
  const filter = readFilter(
    found?.filter ?? (await withNamedWorkspace(backend, given, context.rights)),
  );
  if (isRejection(filter)) throw problemOf(filter);
  const text = context.lastEventId ?? (after === "" ? (found?.position ?? "") : after);
  const isTimed = fromMs !== undefined && context.lastEventId === undefined;
  const from = isTimed
    ? await placeAt(backend, (await firstAtOrAfter(backend.parts.log, fromMs)) - 1)
    : await placeOfText(backend, text);
  return { filter, from, subscription };
}

function filterOf(request: RequestOf<"watchEvents">): Plain<EventFilter> {
  const { types, object, id, experiment, workspace, label, where } = request;
  return { types, object, id, experiment, workspace, label, where };
}

async function openSubscription(backend: Backend, name: string, context: RequestContext) {
  const found = await subscriptionOf(backend, name, context);
  if (found.delivery !== "pull") {
    const detail = `${name} is delivered by ${found.delivery}: only a pull subscription is read by this call`;
    throw new Problem(409, "not_pulled", detail);
  }
  if (found.state !== "ACTIVE") throw ended(name, found.reason);
  return found;
}

const ended = (name: string, reason: string): Problem =>
  new Problem(409, "subscription_stopped", `the subscription ${name} has stopped: ${reason}`);

const endings: ReadonlySet<string> = new Set([
  "SubscriptionStopped",
  "SubscriptionDisabled",
  "SubscriptionDeleted",
]);

/** Returns why the stream of a subscription ends with an event; null if it does not. */
function endOf(subscription: string, { name, stored, data }: LeavingEvent): Problem | null {
  if (subscription === "" || stored.stream !== `subscription-${subscription}`) return null;
  if (endings.has(name)) return ended(subscription, String(data["reason"] ?? ""));
  if (name !== "SubscriptionChanged") return null;
  const detail = `the subscription ${subscription} was changed: connect again for its new filter`;
  return new Problem(503, "subscription_changed", detail);
}

async function placeOfText(backend: Backend, text: string): Promise<EventPlace> {
  const read = readPlace(text);
  if (isRejection(read)) throw problemOf(read);
  const place = await checkedPlace(backend.parts.log, read);
  if (isRejection(place)) throw problemOf(place);
  return place;
}

async function placeAt(backend: Backend, position: number): Promise<EventPlace> {
  return placeOfText(backend, String(position));
}

/** Returns the streams of a filter that names one experiment or one object; null for every other filter. */
function streamsOf({ experiment, categories, id }: Filter): SomeStreams | null {
  if (id !== "" && categories !== null) {
    return { names: [...categories].map((category) => `${category}-${id}`), beginnings: [] };
  }
  return isExperimentId(experiment) ? streamsOfExperiment(experiment) : null;
}
