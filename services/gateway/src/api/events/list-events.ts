/**
 * Lists events, newest first. Versions and positions have no gaps. So a stream, or the whole log, is read backwards by
 * number through the indexes of the log; the streams of one object are merged by position. Times never decrease along a
 * stream, so the end of a time range is found by binary search.
 */
import type { Rights } from "@trainyard/access";
import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { type EventLog, logLimits, type StoredEvent } from "@trainyard/event-log";
import { isExperimentId } from "@trainyard/kernel";
import {
  categoriesOf,
  LeavingEvent,
  mayRead,
  mayReadStream,
  objectsOfStream,
  readsAll,
} from "@trainyard/outbound";
import { experimentKey } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { notFound, Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { inTurn } from "../in-turn.ts";
import { apiLimits } from "../limits.ts";
import { pageSize } from "../paging.ts";
import { firstAt, type Numbered } from "../first-at.ts";
import { factsOf, knownObjects } from "./facts.ts";

/** The events that a list reads at once: the log returns as many in one page, whatever their size. */
const listedEventsRead = logLimits.pageBytesMax / logLimits.bodyBytesMax;
/** The events that one page scans; rare types take several pages. */
const listedEventsLookedAt = 10_000;

type Source = Numbered & {
  readonly name: string;
  readonly numberOf: (event: StoredEvent) => number;
};

/**
 * The state of reading a source backwards: `before` is the number of the last returned event, `read` has older events
 * that are read already, newest last.
 */
type Backwards = { readonly source: Source; before: number; read: Read[] };

type Read = { readonly event: LeavingEvent; readonly isHidden: boolean };

/** Returns read events as they leave, and which of them the caller may not read. */
type Seen = (stored: readonly StoredEvent[]) => Promise<Read[]>;

/** Lists events, in the queue of all lists. */
export function listEvents(
  backend: Backend,
  request: RequestOf<"listEvents">,
  context: RequestContext,
): Promise<ReplyOf<"listEvents">> {
  return inTurn(backend.parts.listQueries, context, () => pageOf(backend, request, context));
}

async function pageOf(
  backend: Backend,
  request: RequestOf<"listEvents">,
  context: RequestContext,
): Promise<ReplyOf<"listEvents">> {
  const { log } = backend.parts;
  const { fromMs = Number.NEGATIVE_INFINITY, untilMs } = request;
  if (Number.isNaN(fromMs) || Number.isNaN(untilMs)) {
    throw new Problem(400, "invalid_request", "from_ms and until_ms are milliseconds since 1970");
  }
  const sources = await sourcesOf(backend, request, context.rights);
  const given = readToken(request.pageToken, sources);
  const all: Backwards[] = [];
  for (const source of sources) {
    const before = given?.get(source.name) ?? (await beforeOf(source, untilMs));
    all.push({ source, before, read: [] });
  }
  const types = new Set(request.types);
  const size = pageSize(request.pageSize);
  const seen = await seenBy(backend, context.rights);
  const items: LeavingEvent[] = [];
  const { listedEventsCharacters } = apiLimits;
  let isOver = false;
  let characters = 0;
  for (let looked = 0; looked < listedEventsLookedAt; looked += 1) {
    if (characters >= listedEventsCharacters) break;
    const read = items.length < size ? await next(all, seen) : undefined;
    isOver = items.length < size && (read === undefined || read.event.stored.timeMs < fromMs);
    if (read === undefined || isOver) break;
    const { event, isHidden } = read;
    if (isHidden) continue;
    characters += event.stored.body.length;
    if (types.size === 0 || types.has(event.name)) items.push(event);
  }
  const isMore = !isOver && all.some(({ before }) => before > 1);
  return {
    items: items.map((event) => event.shown),
    nextPageToken: isMore ? tokenOf(all) : "",
    position: String(await log.head()),
  };
}

async function seenBy(backend: Backend, rights: Rights): Promise<Seen> {
  const epoch = await backend.parts.epoch.current();
  return async (stored) => {
    const events = stored.map((one) => new LeavingEvent(one, epoch));
    const { objects } = await factsOf(backend, { filter: null, rights }, events);
    return events.map((event) => ({ event, isHidden: !mayRead(rights, event, objects) }));
  };
}

/** Returns the number before which a list begins. */
async function beforeOf(source: Source, untilMs: number | undefined): Promise<number> {
  return untilMs === undefined ? source.last + 1 : firstAt(source, untilMs);
}

async function sourcesOf(
  backend: Backend,
  { object, id }: RequestOf<"listEvents">,
  rights: Rights,
): Promise<readonly Source[]> {
  const { log } = backend.parts;
  if (object === "") {
    if (id !== "")
      throw new Problem(400, "invalid_request", "id needs an object: the kind of what it names");
    return [
      {
        name: "",
        last: await log.head(),
        read: (after, limit) => log.readAll(after, limit),
        numberOf: ({ position }) => position,
      },
    ];
  }
  if (!/^[a-z]+$/.test(object)) {
    throw new Problem(400, "invalid_request", "object is a kind, such as experiment, trial or run");
  }
  const streams = categoriesOf(object).map((category) => `${category}-${id}`);
  const isThere = id !== "" && !id.includes("\0") && !(await isDeleted(backend, streams));
  const sources = isThere
    ? await Promise.all(streams.map((stream) => streamSource(log, stream)))
    : [];
  const known = sources.filter(({ last }) => last > 0);
  if (known.length === 0 || !(await mayList(backend, rights, known))) throw notFound(object, id);
  return known;
}

/** Whether the caller sees the object of some streams. */
async function mayList(
  backend: Backend,
  rights: Rights,
  sources: readonly Source[],
): Promise<boolean> {
  if (readsAll(rights)) return true;
  const names = sources.flatMap(({ name }) => objectsOfStream(name));
  const objects = await knownObjects(backend, names);
  return sources.every(({ name }) => mayReadStream(rights, name, objects));
}

async function streamSource(log: EventLog, stream: string): Promise<Source> {
  return {
    name: stream,
    last: await log.lastVersion(stream),
    read: (after, limit) => log.read(stream, after, limit),
    numberOf: ({ version }) => version,
  };
}

/** Whether the object's experiment is deleted. Readers do not see it, even while the deletion can be undone. */
async function isDeleted(backend: Backend, [stream = ""]: readonly string[]): Promise<boolean> {
  const experiment = experimentKey({ stream });
  return isExperimentId(experiment) && (await backend.find("experiment", experiment)) === undefined;
}

const positionOf = ({ read }: Backwards): number => read.at(-1)?.event.stored.position ?? 0;

/** Returns the newest event that is left in all sources. */
async function next(all: readonly Backwards[], seen: Seen): Promise<Read | undefined> {
  let newest: Backwards | undefined;
  for (const one of all) {
    if (one.read.length === 0 && one.before > 1) {
      const count = Math.min(listedEventsRead, one.before - 1);
      one.read = await seen(await one.source.read(one.before - 1 - count, count));
    }
    if (positionOf(one) > (newest === undefined ? 0 : positionOf(newest))) newest = one;
  }
  const read = newest?.read.pop();
  if (newest !== undefined && read !== undefined) {
    newest.before = newest.source.numberOf(read.event.stored);
  }
  return read;
}

const tokenOf = (all: readonly Backwards[]): string =>
  Buffer.from(JSON.stringify(all.map(({ source, before }) => [source.name, before]))).toString(
    "base64url",
  );

/** Returns the positions in the token; null without a token. */
function readToken(token: string, sources: readonly Source[]): ReadonlyMap<string, number> | null {
  if (token === "") return null;
  const befores = new Map<string, number>();
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    for (const [name, before] of read as [unknown, unknown][]) {
      if (typeof name === "string" && Number.isSafeInteger(before))
        befores.set(name, Number(before));
    }
  } catch {
    // An unreadable token is refused like the token of another list, below.
  }
  const isOfThese = sources.some(({ name }) => befores.has(name));
  const fits = sources.every(({ name, last }) => {
    const before = befores.get(name) ?? 1;
    return before >= 1 && before <= last + 1;
  });
  if (!isOfThese || !fits) throw new Problem(400, "invalid_request", "invalid page_token");
  // A stream that is not in the token began after the first page, so it has no older events.
  return new Map(sources.map(({ name }) => [name, befores.get(name) ?? 1]));
}
