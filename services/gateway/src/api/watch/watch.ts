/** Watch: one stream of changes for many topics (lists and documents), resumed by a cursor. */
import { allRights } from "@trainyard/access";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { WatchTopic } from "@trainyard/contracts/api";
import type { Backend } from "../../backend.ts";
import { countedAs } from "../../http/caller.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext, SomeHandlers, StreamItem } from "../../http/request-context.ts";
import { lostPlace, type Place, type SeriesTopic } from "../../live/core/series.ts";
import type { Topic, Touched } from "../../live/core/topics.ts";
import { liveLimits } from "../../live/limits.ts";
import { OpenTopics } from "../../live/open-topics.ts";
import { SeriesHub } from "../../live/series-hub.ts";
import { digestOf, type LogPlace, readCursor, type WatchCursor } from "../../live/watch-cursor.ts";
import { WatchHub } from "../../live/watch-hub.ts";
import type { Frame } from "../../live/watch-queue.ts";
import { type Sent, type WatchHubs, WatchStream } from "../../live/watch-stream.ts";
import { type Filter, FilterError, readFilter } from "../../read-model/core/lists/filter.ts";
import type { ListSpec } from "../../read-model/core/lists/list-spec.ts";
import {
  agentList,
  checkpointList,
  experimentList,
  jobList,
  modelList,
  projectList,
  taskList,
  trialList,
  workspaceList,
} from "../../read-model/core/lists/lists.ts";
import { projectKey } from "../../read-model/core/views/project-space.ts";
import { idsInState, rowsAmong } from "../../read-model/list-pages.ts";
import { findProject, findWorkspace } from "../../spaces/spaces.ts";
import { allOf, readable, requireKnown, shownColumns, withoutArchived } from "../lists.ts";
import { clientIds, shownDocuments } from "../shown-documents.ts";
import { frameText } from "./watch-frames.ts";
import { seriesKinds, seriesReader, seriesTopic } from "./watch-series.ts";

/**
 * The most trials of a paused experiment, or projects of an archived workspace, that get a frame each; with more the
 * topic is reset.
 */
const watchShownElseMax = 1_000;

/** The lists by the kind of their topics. */
const lists: Readonly<Record<string, ListSpec>> = {
  experiments: experimentList,
  trials: trialList,
  checkpoints: checkpointList,
  models: modelList,
  agents: agentList,
  jobs: jobList,
  tasks: taskList,
  workspaces: workspaceList,
  projects: projectList,
};

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
  { caller, lastEventId, signal }: RequestContext,
): AsyncGenerator<StreamItem<ReplyOf<"watch">>> {
  const count = request.topics.length;
  if (count === 0 || count > liveLimits.watchTopicsMax) {
    throw invalid(`topics are 1 to ${liveLimits.watchTopicsMax}, and there are ${count}`);
  }
  const cursor = lastEventId ?? request.after;
  const given = cursorOf(cursor);
  const nowMs = given?.nowMs ?? backend.parts.clock.nowMs();
  // Waits until this replica has applied the events that the client's lists, perhaps read from another replica, had.
  const now = await hubs.documents.now(Math.max(given?.log.position ?? 0, ...positionsOf(request)));
  // Topics are checked one after the other, so that a request for 64 topics leaves database connections to others.
  const asked: Asked[] = [];
  for (const [index, topic] of request.topics.entries()) {
    asked.push(await askedOf(backend, topic, index, nowMs));
  }
  const keys = asked.map(({ topic, series: own }) => topic?.key ?? own?.key ?? "");
  using _counted = open.open(countedAs(caller), keys);
  const { from, isStale } = await startOf(hubs.documents, asked, given, { at: now, ms: nowMs });
  const topics = asked.flatMap(({ topic }) => topic ?? []);
  const series = asked.flatMap((one) => one.series ?? []);
  const stream = new WatchStream(hubs, { caller: countedAs(caller), topics, series }, from);
  await stream.begin();
  const opened = frameText({ case: "opened", value: { topics: keys } });
  // The id of the first frame is the old cursor: a client that reconnects before the reset then gets the reset.
  yield itemOf({ id: isStale ? cursor : stream.cursor, text: opened });
  // Points and lines are reset by their own frames.
  if (isStale && topics.length > 0) {
    yield itemOf({ id: "", text: resetOf("", "the cursor is of another history of the log").text });
  }
  for await (const sent of stream.frames(signal)) yield itemOf(sent);
}

const resetOf = (topic: string, reason: string): Frame => ({
  text: frameText({ case: "reset", value: { topic, reason } }),
});

/** The message is not used if the frame has its text. */
const itemOf = ({ id, text }: Sent): StreamItem<ReplyOf<"watch">> => ({
  id,
  text,
  message: { frame: { case: undefined } },
});

/** A requested topic: a list or a series, and its first position; an empty position means the present. */
type Asked = {
  readonly topic?: Topic;
  readonly series?: SeriesTopic;
  readonly name: string;
  readonly position: string;
};

async function askedOf(
  backend: Backend,
  asked: Plain<WatchTopic>,
  index: number,
  nowMs: number,
): Promise<Asked> {
  const { position } = asked;
  if (seriesKinds.includes(asked.kind)) {
    const series = await seriesTopic(backend, asked, `topics[${index}]`);
    return { series, name: series.name, position };
  }
  const topic = await topicOf(backend, asked, index, nowMs);
  return { topic, name: digestOf(topic.key), position };
}

async function topicOf(
  backend: Backend,
  asked: Plain<WatchTopic>,
  index: number,
  nowMs: number,
): Promise<Topic> {
  const { kind } = asked;
  const list = Object.hasOwn(lists, kind) ? lists[kind] : undefined;
  if (list === undefined) {
    const known = [...Object.keys(lists), ...seriesKinds].join(", ");
    throw invalid(`topics[${index}].kind is ${JSON.stringify(kind)}; the kinds are ${known}`);
  }
  if (asked.group !== "" || asked.names.length > 0) {
    throw invalid(`topics[${index}] has group or names, which are of points`);
  }
  if (asked.lineFilter !== undefined) {
    throw invalid(`topics[${index}] has line_filter, which is of lines`);
  }
  const scope = await scopeOf(backend, asked, list, index);
  const id = await idOf(backend, asked, list, scope);
  const filter = filterOf(asked, list, index);
  const isRelative = /[+-]\d+[smhdw]/.test(asked.filter);
  const key = JSON.stringify([
    kind,
    scope,
    asked.filter,
    id,
    asked.archived,
    ...(isRelative ? [nowMs] : []),
  ]);
  return { key, list, scope, filter, id, nowMs, isRelative };
}

async function scopeOf(
  backend: Backend,
  { kind, experiment, workspace }: Plain<WatchTopic>,
  list: ListSpec,
  index: number,
): Promise<string> {
  const require = (what: string, given: string, isNeeded: boolean): void => {
    if (isNeeded === (given !== "")) return;
    const article = what === "experiment" ? "an" : "a";
    const detail = isNeeded ? `needs ${article} ${what}` : `has no ${what}`;
    throw invalid(`topics[${index}] ${detail}: it is a topic of ${kind}`);
  };
  require("experiment", experiment, list.kind === "trial" || list.kind === "checkpoint");
  require("workspace", workspace, list.kind === "project");
  if (experiment !== "") await backend.get("experiment", experiment);
  return workspace === "" ? experiment : (await findWorkspace(backend, workspace)).id;
}

/** Returns the id of the only document to watch; empty for all. */
async function idOf(
  backend: Backend,
  { id, workspace }: Plain<WatchTopic>,
  { kind }: ListSpec,
  scope: string,
): Promise<string> {
  if (id === "") return "";
  if (kind === "workspace") return (await findWorkspace(backend, id)).id;
  if (kind === "project") {
    const project = await findProject(backend, { id: scope, name: workspace }, id);
    return projectKey(scope, project.id);
  }
  if ((await backend.find(kind, id)) === undefined) throw notFound(kind, id);
  return id;
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

type Start = { readonly from: WatchCursor; readonly isStale: boolean };

/**
 * Returns where the stream begins: at the cursor, or at the position of a new topic if that is earlier, or at the
 * present.
 */
async function startOf(
  hub: WatchHub,
  asked: readonly Asked[],
  given: WatchCursor | null,
  now: { readonly at: LogPlace; readonly ms: number },
): Promise<Start> {
  const isStale = given !== null && !(await isOfThisLog(hub, given, now.at));
  const known = new Set(given?.begun);
  const positions = asked.flatMap(({ topic, name, position }) => {
    const isNew = topic !== undefined && position !== "" && !known.has(name);
    return isNew ? [readPosition(position)] : [];
  });
  const earliest = Math.min(given?.log.position ?? now.at.position, ...positions);
  const begun = asked.flatMap(({ topic, name, position }) =>
    topic === undefined || position === "" ? [] : [name],
  );
  const hasRelative = asked.some(({ topic }) => topic?.isRelative === true);
  const from = {
    log: isStale ? now.at : await hub.cursorAt(earliest),
    nowMs: hasRelative ? now.ms : null,
    begun: [...new Set(begun)],
    places: placesOf(asked, given, isStale),
  };
  return { from, isStale };
}

async function isOfThisLog(hub: WatchHub, { log }: WatchCursor, now: LogPlace): Promise<boolean> {
  const found = await hub.cursorAt(log.position);
  return found.commitId === log.commitId && log.position <= now.position;
}

function placesOf(asked: readonly Asked[], given: WatchCursor | null, isStale: boolean) {
  const places = new Map<string, Place>();
  for (const { series, name, position } of asked) {
    if (series === undefined) continue;
    const place = given?.places.get(name);
    if (place !== undefined) places.set(name, isStale ? lostPlace : place);
    else if (position !== "") places.set(name, { position, epoch: "" });
  }
  return places;
}

/** Returns the log positions of the lists among the topics. */
const positionsOf = ({ topics }: RequestOf<"watch">): readonly number[] =>
  topics.flatMap(({ kind, position }) =>
    position === "" || seriesKinds.includes(kind) ? [] : [readPosition(position)],
  );

function readPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(`${JSON.stringify(text.slice(0, 60))} is no log position`);
}

function cursorOf(text: string): WatchCursor | null {
  if (text === "") return null;
  const cursor = readCursor(text);
  if (cursor === null)
    throw new Problem(400, "invalid_cursor", "after is not a cursor of a stream");
  return cursor;
}

const invalid = (detail: string): Problem => new Problem(400, "invalid_request", detail);

/** Makes the frames for the documents of a topic that events have touched. */
async function changesOf(
  backend: Backend,
  topic: Topic,
  touched: Touched,
): Promise<readonly Frame[]> {
  const { list, scope, key } = topic;
  const ids = new Set(touched.ids.get(list.kind));
  const max = watchShownElseMax;
  const shownElse = await idsShownElse(backend, topic, touched, max + 1);
  if (shownElse.length > max) {
    return [resetOf(key, `more than ${max} ${list.plural} are shown with another state`)];
  }
  for (const id of shownElse) ids.add(id);
  const possible = [...ids].filter((id) => mayBelong(topic, id));
  if (possible.length === 0) return [];
  const names = await clientIds(backend, list, scope, possible);
  const wanted = [...names.keys()];
  const { filter, nowMs } = topic;
  const columns = await shownColumns(backend, list, scope);
  const query = { list, scope, filter, nowMs, columns, rights: allRights("") };
  const { pool } = backend.parts;
  const members = await readable(() => rowsAmong(pool, query, wanted));
  const documents = await shownDocuments(backend, list, scope, members);
  const nameOf = (id: string): string => names.get(id) ?? id;
  const frames = documents.map(({ id, document }) => ({
    text: frameText({ case: "change", value: { topic: key, id: nameOf(id), document } }),
  }));
  const present = new Set(documents.map(({ id }) => id));
  const gone = wanted.filter((id) => !present.has(id));
  return [
    ...frames,
    ...gone.map((id) => ({
      text: frameText({ case: "gone", value: { topic: key, id: nameOf(id) } }),
    })),
  ];
}

/** Returns the documents that are shown in another state after events of their experiment or workspace. */
async function idsShownElse(
  { parts }: Backend,
  { list, scope }: Topic,
  { paused, closed }: Touched,
  limit: number,
): Promise<readonly string[]> {
  if (list.kind === "trial" && paused.has(scope)) {
    return idsInState(parts.pool, list, scope, "ACTIVE", limit);
  }
  const isClosed = list.kind === "project" && closed.has(scope);
  return isClosed ? idsInState(parts.pool, list, scope, null, limit) : [];
}

/** Whether a document may belong to the topic. A trial's id names its experiment; a checkpoint's does not. */
function mayBelong({ id: only, list, scope }: Topic, id: string): boolean {
  if (only !== "") return id === only;
  return list.kind !== "trial" || id.startsWith(`${scope}.`);
}
