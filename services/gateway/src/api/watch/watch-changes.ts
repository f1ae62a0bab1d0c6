/** The frames for documents of topics that events have touched. */
import type { Rights, Sight } from "@trainyard/access";
import { isTaskId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { Topic, Touched } from "../../live/core/topics.ts";
import type { Frame } from "../../live/watch-queue.ts";
import type { DocumentKind, DocumentRow } from "../../read-model/core/views/documents.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";
import { idsInState, rowsAmong } from "../../read-model/list-pages.ts";
import { readable, shownColumns } from "../lists.ts";
import { withSeenWorkspace } from "../jobs/jobs.ts";
import { maskedAgents } from "../rights/masks.ts";
import { withSeenPins } from "../rights/objects.ts";
import { clientIds, type ShownDocument, shownDocuments } from "../shown-documents.ts";
import { frameText, resetOf } from "./watch-frames.ts";

/**
 * The most trials of a paused experiment, or projects of an archived workspace, that get a frame each; with more the
 * topic is reset.
 */
const watchShownElseMax = 1_000;

/** Makes the frames for the documents of a topic that events have touched. */
export async function changesOf(
  backend: Backend,
  topic: Topic,
  touched: Touched,
): Promise<readonly Frame[]> {
  const { list, scope, key, rights } = topic;
  const ids = new Set(touched.ids.get(list.kind));
  const max = watchShownElseMax;
  const shownElse = await idsShownElse(backend, topic, touched, max + 1);
  if (shownElse.length > max) {
    return [resetOf(key, `more than ${max} ${list.plural} are shown with another state`)];
  }
  if (namesOthers.has(list.kind) && (await haveCrossed(backend, rights, touched))) {
    return [resetOf(key, "an experiment was moved")];
  }
  for (const id of shownElse) ids.add(id);
  const possible = [...ids].filter((id) => mayBelong(topic, id));
  if (possible.length === 0) return [];
  const names = await clientIds(backend, list, scope, possible);
  const wanted = [...names.keys()];
  const { filter, nowMs } = topic;
  const columns = await shownColumns(backend, list, scope);
  const query = { list, scope, filter, nowMs, columns, rights };
  const { pool } = backend.parts;
  const members = await readable(() => rowsAmong(pool, query, wanted));
  const shown = await shownDocuments(backend, list, scope, members);
  const documents = await maskedDocuments(backend, rights, shown);
  const nameOf = (id: string): string => names.get(id) ?? id;
  const frames = documents.map(({ id, document }) => ({
    text: frameText({ case: "change", value: { topic: key, id: nameOf(id), document } }),
  }));
  const present = new Set(documents.map(({ id }) => id));
  const absent = wanted.filter((id) => !present.has(id));
  const gone = await seenBefore(backend, topic, touched, absent);
  return [
    ...frames,
    ...gone.map((id) => ({
      text: frameText({ case: "gone", value: { topic: key, id: nameOf(id) } }),
    })),
  ];
}

/** The kinds of documents that name runs of other workspaces. */
const namesOthers: ReadonlySet<string> = new Set(["agent", "job"]);

/** Whether an experiment was moved into or out of the caller's sight. */
async function haveCrossed(backend: Backend, rights: Rights, { moved }: Touched): Promise<boolean> {
  const experiments = moved.get("experiment");
  if (rights.seesAll || experiments === undefined) return false;
  const places = await placesNow(backend, "experiment", [...experiments.keys()]);
  return [...experiments].some(([id, before]) => {
    const place = places.get(id);
    const isSeen = place !== undefined && rights.has(place.sight, place.workspace);
    return [...before].some((workspace) => rights.has("experiment_view", workspace) !== isSeen);
  });
}

/**
 * Returns those of the absent documents that the caller may have: documents in a workspace that it sees, and those that
 * were moved out of one. The others are not named to the caller.
 */
async function seenBefore(
  backend: Backend,
  { list, rights }: Topic,
  { moved }: Touched,
  absent: readonly string[],
): Promise<readonly string[]> {
  if (rights.seesAll || list.sights === undefined || absent.length === 0) return absent;
  const places = await placesNow(backend, list.kind, absent);
  return absent.filter((id) => {
    const place = places.get(id);
    if (place === undefined) return false;
    const before = moved.get(list.kind === "job" ? "experiment" : list.kind)?.get(id) ?? [];
    return [place.workspace, ...before].some((workspace) => rights.has(place.sight, workspace));
  });
}

type Place = { readonly workspace: string; readonly sight: Sight };

/** Returns where documents are now, by id; deleted ones, too, until they are gone for good. */
async function placesNow(
  { parts }: Backend,
  kind: DocumentKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Place>> {
  const kindOf = (id: string): DocumentKind =>
    kind !== "job" ? kind : isTaskId(id) ? "task" : "experiment";
  const rows = await parts.documents.fetch(
    parts.pool,
    ids.map((id) => ({ kind: kindOf(id), id })),
  );
  return new Map(rows.flatMap((row) => placeOfRow(row)));
}

function placeOfRow(row: DocumentRow): readonly (readonly [string, Place])[] {
  const at = (workspace: string, sight: Sight) =>
    [[row.id, { workspace: workspace || defaultSpace, sight }]] as const;
  switch (row.kind) {
    case "experiment":
      return at(row.doc.workspace, "experiment_view");
    case "task":
      return at(row.doc.workspace, "task_view");
    case "model":
      return at(row.doc.workspace, "model_view");
    case "workspace":
      return at(row.doc.name, "workspace_view");
    default:
      return [];
  }
}

/** Returns the documents without what they say of objects that the caller does not see. */
async function maskedDocuments(
  backend: Backend,
  rights: Rights,
  documents: readonly ShownDocument[],
): Promise<readonly ShownDocument[]> {
  if (rights.seesAll) return documents;
  const masked: ShownDocument[] = [];
  for (const { id, document } of documents) {
    if (document.case === "agent") {
      const [value = document.value] = await maskedAgents(backend, rights, [document.value]);
      masked.push({ id, document: { case: "agent", value } });
    } else if (document.case === "checkpoint") {
      const [value = document.value] = await withSeenPins(backend, rights, [document.value]);
      masked.push({ id, document: { case: "checkpoint", value } });
    } else if (document.case === "job") {
      const value = withSeenWorkspace(rights, document.value);
      masked.push({ id, document: { case: "job", value } });
    } else {
      masked.push({ id, document });
    }
  }
  return masked;
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
