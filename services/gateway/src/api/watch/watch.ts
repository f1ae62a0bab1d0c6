/** Watch: one stream of changes for many topics (lists and documents), resumed by a cursor. */
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import { type Caller, countedAs } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import { liveLimits } from "../../live/limits.ts";
import { OpenTopics } from "../../live/open-topics.ts";
import { SeriesHub } from "../../live/series-hub.ts";
import { sightOf, type WatchCursor } from "../../live/watch-cursor.ts";
import { WatchHub } from "../../live/watch-hub.ts";
import type { Frame } from "../../live/watch-queue.ts";
import { type Sent, type WatchHubs, WatchStream } from "../../live/watch-stream.ts";
import { changesOf } from "./watch-changes.ts";
import { frameText, resetOf } from "./watch-frames.ts";
import { seriesReader } from "./watch-series.ts";
import { cursorOf, positionsOf, startOf } from "./watch-start.ts";
import {
  type RequestedTopic,
  requestedTopic,
  changesOfView,
  isSameView,
  otherSight,
  seenAs,
  viewOf,
  type WatchView,
} from "./watch-topics.ts";

export function watchHandlers(backend: Backend) {
  const open = new OpenTopics({
    ofOneMax: liveLimits.watchTopicsOfOneMax,
    ofAllMax: liveLimits.watchTopicsOfAllMax,
  });
  const hubs: WatchHubs = {
    documents: new WatchHub(backend.parts, {
      changes: (topic, touched) => changesOf(backend, topic, touched),
      reset: resetOf,
    }),
    series: new SeriesHub(backend.parts, seriesReader(backend)),
    bookmark: (cursor) => frameText({ case: "bookmark", value: { cursor } }),
  };
  return {
    streams: {
      watch: (request, context) => watch(backend, { hubs, open }, request, context),
    },
  } satisfies SomeHandlers;
}

async function* watch(
  backend: Backend,
  { hubs, open }: { readonly hubs: WatchHubs; readonly open: OpenTopics },
  request: RequestOf<"watch">,
  { caller, rights, lastEventId, signal }: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watch">>> {
  const count = request.topics.length;
  if (count === 0 || count > liveLimits.watchTopicsMax) {
    const detail = `topics are 1 to ${liveLimits.watchTopicsMax}, and there are ${count}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const cursor = lastEventId ?? request.after;
  const given = cursorOf(cursor);
  const nowMs = given?.nowMs ?? backend.parts.clock.nowMs();
  // Waits until this replica has applied the events that the client's lists, perhaps read from another replica, had.
  const now = await hubs.documents.now(Math.max(given?.log.position ?? 0, ...positionsOf(request)));
  // Topics are checked one after the other, so that a request for 64 topics leaves database connections to others.
  const asked: RequestedTopic[] = [];
  for (const [index, topic] of request.topics.entries()) {
    asked.push(await requestedTopic(backend, topic, index, { nowMs, rights }));
  }
  const keys = asked.map(keyOf);
  using _counted = open.open(countedAs(caller), keys);
  const here = { at: now, ms: nowMs, rights };
  const { from, isStale, isOther } = await startOf(hubs.documents, asked, given, here);
  const opened = frameText({ case: "opened", value: { topics: keys } });
  const resets: Frame[] = [];
  // Points and lines are reset by their own frames.
  if ((isStale || isOther) && asked.some(({ topic }) => topic !== undefined)) {
    resets.push(resetOf("", isStale ? "the cursor is of another history of the log" : otherSight));
  }
  // The id of the first frame is the old cursor: a client that reconnects before the reset then gets the reset.
  const first = (own: string): Sent => ({ id: isStale || isOther ? cursor : own, text: opened });
  const view = { rights, seen: asked.map(() => true) };
  for await (const sent of watching(backend, hubs, { asked, view, from, caller, signal })) {
    if (typeof sent !== "string") yield itemOf(sent);
    else {
      yield itemOf(first(sent));
      for (const { text } of resets) yield itemOf({ id: "", text });
    }
  }
}

const keyOf = ({ topic, series }: RequestedTopic): string => topic?.key ?? series?.key ?? "";

type Watching = {
  readonly asked: readonly RequestedTopic[];
  readonly view: WatchView;
  readonly from: WatchCursor;
  readonly caller: Caller;
  readonly signal: AbortSignal;
};

/**
 * Yields the cursor at which the stream begins, and then its frames. When the caller sees other objects than before,
 * the stream ends at its place, and another one with the topics that the caller sees continues there.
 */
async function* watching(
  backend: Backend,
  hubs: WatchHubs,
  { asked, caller, signal, ...begin }: Watching,
): AsyncGenerator<Sent | string> {
  let { view, from } = begin;
  for (let changes: readonly Frame[] | null = null; !signal.aborted; ) {
    const { rights, seen } = view;
    const shown = asked.filter((_one, index) => seen[index]);
    const topics = shown.flatMap(({ topic }) => (topic === undefined ? [] : seenAs(topic, rights)));
    const series = shown.flatMap((one) => one.series ?? []);
    const stream = new WatchStream(hubs, { caller: countedAs(caller), topics, series }, from);
    await stream.begin();
    if (changes === null) yield stream.cursor;
    for (const { text } of changes ?? []) yield { id: "", text };
    using check = backend.parts.checks.begin(async () => {
      if (!isSameView(view, await viewOf(backend, caller, asked))) throw viewChanged();
    });
    yield* stream.frames(AbortSignal.any([signal, check.refused]));
    if (signal.aborted) return;
    const before = view;
    view = await viewOf(backend, caller, asked);
    changes = changesOfView(asked, before, view);
    from = { ...stream.place, sight: sightOf(view.rights) };
  }
}

/** Ends the frames of a view; no caller gets it. */
const viewChanged = (): Problem => new Problem(409, "view_changed", otherSight);

/** The message is not used if the frame has its text. */
const itemOf = ({ id, text }: Sent): StreamItem<ReplyOf<"watch">> => ({
  id,
  text,
  message: { frame: { case: undefined } },
});
