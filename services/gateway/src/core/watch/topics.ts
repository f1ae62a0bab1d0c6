/** The interests of a watcher, and the changes that events may have made to them. */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { idOf } from "@trainyard/kernel";
import type { Filter } from "../lists/filter.ts";
import type { ListSpec } from "../lists/list-spec.ts";
import type { DocumentKind } from "../views/documents.ts";
import { isProjected } from "../views/project.ts";
import { touchedBy } from "../views/touched.ts";

export type Topic = {
  /** Equal topics have equal keys. */
  readonly key: string;
  readonly list: ListSpec;
  readonly scope: string;
  readonly filter: Filter | null;
  /** Only this document; empty for all of the list. */
  readonly id: string;
  /** The time that relative times of the filter count from. */
  readonly nowMs: number;
  readonly isRelative: boolean;
};

/** Documents that events may have changed. */
export type Touched = {
  readonly ids: ReadonlyMap<DocumentKind, ReadonlySet<string>>;
  /** Experiments that were paused or activated: their active trials are shown with another state. */
  readonly paused: ReadonlySet<string>;
  /** Workspaces that were archived or taken back into use: their projects are shown with them. */
  readonly closed: ReadonlySet<string>;
};

/** The fields read of an event of the log. */
type LoggedEvent = { readonly stream: string; readonly type: string; readonly body: string };

export function touchedOf(events: readonly LoggedEvent[]): Touched {
  const ids = new Map<DocumentKind, Set<string>>();
  const paused = new Set<string>();
  const closed = new Set<string>();
  for (const stored of events) {
    // No document has anything of another event, which may be of a newer version and unknown here.
    if (!isProjected(shortNameOf(stored.type))) continue;
    const event = decodeEvent(stored);
    for (const { kind, id } of touchedBy(stored.stream, event)) {
      const known = ids.get(kind) ?? new Set();
      ids.set(kind, known.add(id));
    }
    if (changesPause.has(event.type)) paused.add(idOf(stored.stream));
    if (closesProjects.has(event.type)) closed.add(idOf(stored.stream));
  }
  return { ids, paused, closed };
}

const changesPause: ReadonlySet<string> = new Set([
  "ExperimentActivated",
  "ExperimentPaused",
  "ExperimentStopRequested",
  "ExperimentEnded",
  "ExperimentContinued",
]);

const closesProjects: ReadonlySet<string> = new Set(["WorkspaceArchived", "WorkspaceUnarchived"]);
