/** One stream for many interests: what changes of lists and documents, resumed by a cursor. */
import { codecOf, type Plain, type RequestOf, type ReplyOf } from "@trainyard/contracts";
import { type WatchFrame, WatchFrameSchema, type WatchTopic } from "@trainyard/contracts/api";
import { type Filter, FilterError, readFilter } from "../core/lists/filter.ts";
import type { ListSpec } from "../core/lists/list-spec.ts";
import {
  agentList,
  checkpointList,
  experimentList,
  modelList,
  trialList,
} from "../core/lists/lists.ts";
import type { Topic, Touched } from "../core/watch/topics.ts";
import { notFound, Problem } from "../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../http/request-context.ts";
import { gatewayLimits } from "../limits.ts";
import type { Backend } from "../shell/backend.ts";
import { idsInState, rowsAmong } from "../shell/list-pages.ts";
import { OpenStreams } from "../shell/open-streams.ts";
import { WatchHub, type WatchCursor } from "../shell/watch-hub.ts";
import type { Frame } from "../shell/watch-queue.ts";
import { allOf, pausedColumns, readable, requireKnown, withoutArchived } from "./lists.ts";
import { shownDocuments } from "./shown-documents.ts";

/** By the name of a topic's kind. */
const lists: Readonly<Record<string, ListSpec>> = {
  experiments: experimentList as unknown as ListSpec, // — a list of one kind is watched like every other
  trials: trialList as unknown as ListSpec, // — the same
  checkpoints: checkpointList as unknown as ListSpec, // — the same
  models: modelList as unknown as ListSpec, // — the same
  agents: agentList as unknown as ListSpec, // — the same
};

type FrameContent = Plain<WatchFrame>["frame"];

export function watchHandlers(backend: Backend) {
  const open = new OpenStreams({
    ofOneMax: gatewayLimits.watchStreamsOfOneMax,
    ofAllMax: gatewayLimits.watchStreamsMax,
  });
  const hub = new WatchHub(backend.parts, {
    changes: (topic, touched) => changesOf(backend, topic, touched),
    bookmark: (cursor) => {
      const id = textOfCursor(cursor);
      return frameOf({ case: "bookmark", value: { cursor: id } }, id);
    },
    reset: (topic, reason) => frameOf({ case: "reset", value: { topic, reason } }),
  });
  return {
    streams: {
      watch: async function* (request, context) {
        using _counted = open.open(context.caller.authid);
        yield* watch(backend, hub, request, context);
      },
    },
  } satisfies SomeHandlers;
}

async function* watch(
  backend: Backend,
  hub: WatchHub,
  request: RequestOf<"watch">,
  { lastEventId, signal }: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watch">>> {
  const count = request.topics.length;
  if (count === 0 || count > gatewayLimits.watchTopicsMax) {
    throw invalid(`topics are 1 to ${gatewayLimits.watchTopicsMax}, and there are ${count}`);
  }
  const nowMs = backend.parts.clock.nowMs();
  const topics: Topic[] = [];
  for (const [index, topic] of request.topics.entries()) {
    topics.push(await topicOf(backend, topic, index, nowMs));
  }
  const { after, isStale } = await startOf(hub, request, lastEventId);
  const keys = topics.map(({ key }) => key);
  yield itemOf(frameOf({ case: "opened", value: { topics: keys } }, textOfCursor(after)));
  if (isStale) {
    const reason = "the cursor is of another history of the log";
    yield itemOf(frameOf({ case: "reset", value: { topic: "", reason } }));
  }
  for await (const frame of hub.watch(topics, after, signal)) yield itemOf(frame);
}

const codec = codecOf<Plain<WatchFrame>>(WatchFrameSchema);

function frameOf(frame: FrameContent, id = ""): Frame {
  return { id, text: JSON.stringify(codec.toFullJson({ frame })) };
}

/** The message is not looked at where its text is there. */
const itemOf = ({ id, text }: Frame): StreamItem<ReplyOf<"watch">> => ({
  id,
  text,
  message: { frame: { case: undefined } },
});

async function topicOf(
  backend: Backend,
  asked: Plain<WatchTopic>,
  index: number,
  nowMs: number,
): Promise<Topic> {
  const { kind, experiment, id } = asked;
  const list = Object.hasOwn(lists, kind) ? lists[kind] : undefined;
  if (list === undefined) {
    const known = Object.keys(lists).join(", ");
    throw invalid(`topics[${index}].kind is ${JSON.stringify(kind)}; the kinds are ${known}`);
  }
  const isScoped = list.kind === "trial" || list.kind === "checkpoint";
  if (isScoped !== (experiment !== "")) {
    const detail = isScoped ? "needs an experiment" : "has no experiment";
    throw invalid(`topics[${index}] ${detail}: it is a topic of ${kind}`);
  }
  if (isScoped) await backend.get("experiment", experiment);
  if (id !== "" && (await backend.find(list.kind, id)) === undefined) {
    throw notFound(list.kind, id);
  }
  const filter = filterOf(asked, list, index);
  const isRelative = /[+-]\d+[smhdw]/.test(asked.filter);
  const key = JSON.stringify([
    kind,
    experiment,
    asked.filter,
    id,
    asked.archived,
    ...(isRelative ? [nowMs] : []),
  ]);
  return { key, list, scope: experiment, filter, id, nowMs };
}

function filterOf(asked: Plain<WatchTopic>, list: ListSpec, index: number): Filter | null {
  try {
    const hasArchived = list.fields.some(({ name }) => name === "archived");
    const filter = allOf(readFilter(asked.filter), hasArchived ? withoutArchived(asked) : []);
    if (filter !== null) requireKnown(filter, list);
    return filter;
  } catch (error) {
    if (error instanceof FilterError) throw invalid(`topics[${index}].${error.message}`);
    throw error;
  }
}

/** Where the stream begins: at the cursor, at the earliest position of a topic's list, or now. */
async function startOf(
  hub: WatchHub,
  { after, topics }: RequestOf<"watch">,
  lastEventId: string | undefined,
): Promise<{ readonly after: WatchCursor; readonly isStale: boolean }> {
  const given = lastEventId ?? after;
  const cursor = given === "" ? null : readCursor(given);
  const now = await hub.now(cursor?.position ?? 0);
  const found = cursor === null ? null : await hub.cursorAt(cursor.position);
  const isStale =
    cursor !== null && (found?.commitId !== cursor.commitId || cursor.position > now.position);
  if (isStale) return { after: now, isStale };
  const positions = topics.flatMap(({ position }) =>
    position === "" ? [] : [readPosition(position)],
  );
  const earliest = Math.min(cursor?.position ?? now.position, ...positions);
  return { after: await hub.cursorAt(earliest), isStale: false };
}

function readPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(`${JSON.stringify(text.slice(0, 60))} is no log position`);
}

function textOfCursor({ position, commitId }: WatchCursor): string {
  return Buffer.from(JSON.stringify([position, commitId])).toString("base64url");
}

function readCursor(text: string): WatchCursor {
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const [position, commitId] = Array.isArray(read) ? (read as unknown[]) : [];
    const isCursor = Number.isSafeInteger(position) && Number(position) >= 0;
    if (isCursor && typeof commitId === "string") return { position: Number(position), commitId };
  } catch {
    // Falls through to the same answer as a cursor of another shape.
  }
  throw invalid("after is no cursor of a stream");
}

const invalid = (detail: string): Problem => new Problem(400, "invalid_request", detail);

/** Frames for the documents of a topic that events touched. */
async function changesOf(
  backend: Backend,
  topic: Topic,
  touched: Touched,
): Promise<readonly Frame[]> {
  const { list, scope, key } = topic;
  const ids = new Set(touched.ids.get(list.kind));
  if (list.kind === "trial" && touched.paused.has(scope)) {
    const max = gatewayLimits.watchPausedTrialsMax;
    const active = await idsInState(backend.parts.pool, list, scope, "ACTIVE", max + 1);
    if (active.length > max) {
      const reason = `more than ${max} trials are shown with another state`;
      return [frameOf({ case: "reset", value: { topic: key, reason } })];
    }
    for (const id of active) ids.add(id);
  }
  const wanted = [...ids].filter((id) => mayBelong(topic, id));
  if (wanted.length === 0) return [];
  const { filter, nowMs } = topic;
  const columns = await pausedColumns(backend, list, scope);
  const query = { list, scope, filter, nowMs, columns };
  const { listQueries, pool } = backend.parts;
  const members = await listQueries.run(() => readable(() => rowsAmong(pool, query, wanted)));
  const documents = await shownDocuments(backend, list, scope, members);
  const frames = documents.map(({ id, document }) =>
    frameOf({ case: "change", value: { topic: key, id, document } }),
  );
  const present = new Set(documents.map(({ id }) => id));
  const gone = wanted.filter((id) => !present.has(id));
  return [...frames, ...gone.map((id) => frameOf({ case: "gone", value: { topic: key, id } }))];
}

/** A trial's id names its experiment; a checkpoint's does not. */
function mayBelong({ id: only, list, scope }: Topic, id: string): boolean {
  if (only !== "") return id === only;
  return list.kind !== "trial" || id.startsWith(`${scope}.`);
}
