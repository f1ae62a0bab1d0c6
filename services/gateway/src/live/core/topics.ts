/** The topics of a watcher, and the documents that events may have changed. */
import type { Rights } from "@trainyard/access";
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { idOf } from "@trainyard/kernel";
import type { Filter } from "../../read-model/core/lists/filter.ts";
import type { ListSpec } from "../../read-model/core/lists/list-spec.ts";
import type { DocumentKind } from "../../read-model/core/views/documents.ts";
import { defaultSpace } from "../../read-model/core/views/project-space.ts";
import { isProjected } from "../../read-model/core/views/project.ts";
import { touchedBy } from "../../read-model/core/views/touched.ts";

export type Topic = {
  /** The key of the topic; equal topics have equal keys. */
  readonly key: string;
  /** The key by which watchers share answers: equal for callers who see the same objects. */
  readonly sharedKey: string;
  readonly list: ListSpec;
  readonly scope: string;
  readonly filter: Filter | null;
  /** The id of the only document to watch; empty for the whole list. */
  readonly id: string;
  /** The time that relative times of the filter count from. */
  readonly nowMs: number;
  readonly isRelative: boolean;
  readonly rights: Rights;
};

/** Documents that events may have changed. */
export type Touched = {
  readonly ids: ReadonlyMap<DocumentKind, ReadonlySet<string>>;
  /** The experiments that were paused or activated: their active trials are shown in another state. */
  readonly paused: ReadonlySet<string>;
  /** The workspaces that were archived or unarchived: their projects are shown in another state. */
  readonly closed: ReadonlySet<string>;
  /** The workspaces that moved experiments and models were in before, by their ids. */
  readonly moved: Moved;
};

export type Moved = ReadonlyMap<DocumentKind, ReadonlyMap<string, ReadonlySet<string>>>;

/** The fields of a stored event that `touchedOf` reads. */
type LoggedEvent = { readonly stream: string; readonly type: string; readonly body: string };

export function touchedOf(events: readonly LoggedEvent[], moved: Moved = new Map()): Touched {
  const ids = new Map<DocumentKind, Set<string>>();
  const paused = new Set<string>();
  const closed = new Set<string>();
  for (const stored of events) {
    // Other events change no document, and may be of a newer version that cannot be decoded here.
    if (!isProjected(shortNameOf(stored.type))) continue;
    const event = decodeEvent(stored);
    for (const { kind, id } of touchedBy(stored.stream, event)) {
      const known = ids.get(kind) ?? new Set();
      ids.set(kind, known.add(id));
    }
    if (changesPause.has(event.type)) paused.add(idOf(stored.stream));
    if (closesProjects.has(event.type)) closed.add(idOf(stored.stream));
  }
  return { ids, paused, closed, moved };
}

const changesPause: ReadonlySet<string> = new Set([
  "ExperimentActivated",
  "ExperimentPaused",
  "ExperimentStopRequested",
  "ExperimentEnded",
  "ExperimentContinued",
]);

const closesProjects: ReadonlySet<string> = new Set(["WorkspaceArchived", "WorkspaceUnarchived"]);

const moves: ReadonlySet<string> = new Set(["ExperimentMoved", "ModelMoved"]);

/** Whether an event moves an object to another workspace. */
export const isMove = (type: string): boolean => moves.has(shortNameOf(type));

/** Returns the workspace of an object after the events of its stream. */
export function workspaceAfter(events: readonly LoggedEvent[]): string {
  let workspace = "";
  for (const stored of events) {
    if (!placing.has(shortNameOf(stored.type))) continue;
    const { data } = decodeEvent(stored);
    if ("workspace" in data) workspace = String(data.workspace);
  }
  return workspace || defaultSpace;
}

const placing: ReadonlySet<string> = new Set([...moves, "ExperimentCreated", "ModelCreated"]);
