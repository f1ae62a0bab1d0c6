/** Reads stream entries as reports with positions, as many as fit one answer. */
import { decodeReports, type Encoded } from "./columns/block.ts";
import type { StoredReport } from "./columns/table.ts";
import { answeredBytes, textBytes } from "./values.ts";

type Entry = {
  /** The position of the entry's last report. */
  readonly position: number;
  readonly reports: number;
  readonly trial: string;
  readonly run: number;
} & (
  | { readonly kind: "tail"; readonly group: string; readonly tail: Encoded }
  | { readonly kind: "supersession"; readonly afterStep: number }
);

type Origin = { readonly position: number; readonly trial: string; readonly run: number };

export type StreamItem = Origin &
  (
    | { readonly kind: "report"; readonly group: string; readonly report: StoredReport }
    | { readonly kind: "supersession"; readonly afterStep: number }
  );

export type StreamPage = { readonly items: readonly StreamItem[]; readonly isCut: boolean };

export type PageBounds = {
  /** Only items after this position. */
  readonly after: number;
  readonly itemsMax: number;
  /** The maximum size of the items in the answer, which has at least one item. */
  readonly bytesMax: number;
};

export function streamPage(entries: Iterable<Entry>, bounds: PageBounds): StreamPage {
  const items: StreamItem[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const { position: last, trial, run, reports } = entry;
    const isFull = (): boolean => items.length === bounds.itemsMax || bytes >= bounds.bytesMax;
    if (entry.kind === "supersession") {
      if (isFull()) return { items, isCut: true };
      items.push({ position: last, trial, run, kind: "supersession", afterStep: entry.afterStep });
      continue;
    }
    for (const [index, report] of decodeReports(entry.tail).entries()) {
      const position = last - reports + 1 + index;
      if (position <= bounds.after) continue;
      if (isFull()) return { items, isCut: true };
      items.push({ position, trial, run, kind: "report", group: entry.group, report });
      bytes += answeredBytes([trial, entry.group, report.key], textBytes(report.metrics));
    }
  }
  return { items, isCut: false };
}
