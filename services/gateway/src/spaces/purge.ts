/**
 * Deletes stored contents that nothing names: code, submission and packages of experiments that were deleted for good,
 * and code of deleted tasks and of removed versions. The sessions with pages of deleted tasks are deleted, too. The
 * cursor moves after their files are deleted, so a crash repeats the work. Every replica does this; of two concurrent
 * decisions only one is made.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { Fault, idOf } from "@trainyard/kernel";
import {
  type Content,
  contentId,
  type DeletionGate,
  EffectLoop,
  type KnownEvent,
  positionInLog,
  readSomeTo,
  runtimeLimits,
  streamEvents,
} from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { contentsOf, contextOf, environmentOf, isContentUsed } from "../read-model/content-uses.ts";
import { versionKey } from "../read-model/core/views/documents.ts";
import { endSessionsOfTask } from "../task-pages/task-sessions.ts";
import { deleteUnused, type RemovalDeps } from "./content-removal.ts";
import { spaceLimits } from "./limits.ts";

const read = { names: [], beginnings: ["experiment-", "model-", "task-"] };

export function purgeLoop(
  backend: Backend,
  hold: DeletionGate,
  isReady: () => boolean,
): EffectLoop {
  return new EffectLoop("purge", backend.parts, async (signal) => {
    while (!signal.aborted && isReady()) {
      if ((await hold.reason()) !== null) return runtimeLimits.heldLookMs;
      if (!(await purge(backend))) break;
    }
    return spaceLimits.purgePauseMs;
  });
}

/** Processes one page of the log. Returns whether more is left. */
export async function purge(backend: Backend): Promise<boolean> {
  const { log } = backend.parts;
  const from = await positionOf(backend);
  const to = Math.min(await log.head(), from + runtimeLimits.pageEvents);
  const page = await readSomeTo(log, read, from, to);
  if (page === null) return false;
  const deps = removalOf(backend);
  const { events, last } = page;
  for (const event of events) {
    if (shortNameOf(event.type) === "TaskDeleted") {
      await endSessionsOfTask(backend.parts.pool, idOf(event.stream));
    }
    for (const content of await freedBy(backend, event)) {
      await deleteUnused(deps, content, event.position);
    }
  }
  await moveTo(backend, last);
  return last.position < to || to === from + runtimeLimits.pageEvents;
}

/** Returns the contents that an event may have left unused. */
async function freedBy(backend: Backend, stored: StoredEvent): Promise<readonly Content[]> {
  const event = decodeEvent(stored);
  if (event.type === "ExperimentDeleted") return namedBy(backend, idOf(stored.stream));
  if (event.type === "TaskDeleted") return contextOfTask(backend, stored.stream);
  if (event.type !== "VersionRemoved") return [];
  await backend.reach(stored.position);
  const { documents, pool } = backend.parts;
  const key = versionKey(idOf(stored.stream), event.data.number);
  const { codeDigest = "" } = (await documents.get(pool, "version", key)) ?? {};
  return codeDigest === "" ? [] : [contextOf(codeDigest)];
}

async function contextOfTask({ parts }: Backend, stream: string): Promise<readonly Content[]> {
  const [first] = await parts.log.read(stream, 0, 1);
  const created = first === undefined ? null : decodeEvent(first);
  const { contextDigest = "" } = created?.type === "TaskCreated" ? created.data : {};
  return contextDigest === "" ? [] : [contextOf(contextDigest)];
}

/** Returns all contents that the streams of an experiment name. */
async function namedBy({ parts }: Backend, experiment: string): Promise<readonly Content[]> {
  const found = new Map<string, Content>();
  const add = (content: Content) => found.set(contentId(content), content);
  const [first] = await parts.log.read(`experiment-${experiment}`, 0, 1);
  const created = first === undefined ? null : decodeEvent(first);
  if (created?.type === "ExperimentCreated") contentsOf(created.data).forEach(add);
  for await (const stored of streamEvents(parts.log, `environment-${experiment}`)) {
    const event = decodeEvent(stored);
    if (event.type === "EnvironmentRecorded") add(environmentOf(event.data.digest));
  }
  return [...found.values()].filter(({ digest }) => digest !== "");
}

function removalOf(backend: Backend): RemovalDeps {
  return { ...backend.parts, isUsed: (content, at) => isUsed(backend, content, at) };
}

async function isUsed(backend: Backend, content: Content, position: number): Promise<boolean> {
  const { pool, view } = backend.parts;
  await view.reach(position);
  const used = await isContentUsed(pool, content, position, view.spec.version);
  if (used !== null) return used;
  throw new Fault("uses_unknown", "the read model cannot say what names the content", {
    retry: "later",
  });
}

/** Returns the cursor; 0 in a log that does not have its event: repeated deletions are harmless. */
async function positionOf({ parts }: Backend): Promise<number> {
  const text = "select position::float8 as position, event as id from gateway.purged";
  const { rows } = await parts.pool.query<KnownEvent>(text);
  return positionInLog(parts.log, rows[0]);
}

async function moveTo({ parts }: Backend, { position, id }: KnownEvent): Promise<void> {
  const text = `insert into gateway.purged (position, event) values ($1, $2)
    on conflict (one) do update set position = excluded.position, event = excluded.event`;
  await parts.pool.query(text, [position, id]);
}
