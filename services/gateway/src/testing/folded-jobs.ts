/** Returns the jobs that the read model folds from events, in queue order. */
import type { AnyEvent, Plain } from "@trainyard/contracts";
import type { Job } from "@trainyard/contracts/api";
import { shownJob } from "../api/shown.ts";
import { jobList } from "../read-model/core/lists/lists.ts";
import { DocumentSet } from "../read-model/core/views/documents.ts";
import { project } from "../read-model/core/views/project.ts";

export type StreamedEvent = { readonly stream: string; readonly event: AnyEvent };

export function foldedJobs(events: readonly StreamedEvent[]): readonly Plain<Job>[] {
  const documents = new DocumentSet();
  for (const [index, { stream, event }] of events.entries()) {
    project({ stream, timeMs: 1_000, position: index + 1 }, event, documents);
  }
  const ahead = new Map<string, number>();
  return documents
    .rows()
    .flatMap((row) => (row.kind === "job" ? [row.doc] : []))
    .filter((doc) => jobList.isListed?.(doc))
    .toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
    .map((doc) => {
      const before = ahead.get(doc.pool) ?? 0;
      if (doc.runsWaiting > 0) ahead.set(doc.pool, before + 1);
      return shownJob(doc, doc.runsWaiting > 0 ? before : 0);
    });
}
