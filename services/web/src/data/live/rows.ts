/**
 * Applies a frame to a cached answer: a page of a list, the pages of a long list, or one document. Pure: answers are
 * shared between components and are never changed in place.
 */
import type { TopicFrame } from "./protocol.ts";

type Row = Readonly<Record<string, unknown>>;
type Page = {
  readonly items: readonly Row[];
  readonly nextPageToken?: string;
  /** The size of the whole list, on the first page, if it was requested. */
  readonly total?: number;
};
type Pages = { readonly pages: readonly Page[] };

/** Agents have a name instead of an id. */
const idOf = (row: Row): unknown => row["id"] ?? row["name"];

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;
const isPage = (value: unknown): value is Page => isRow(value) && Array.isArray(value["items"]);
const isPages = (value: unknown): value is Pages => isRow(value) && Array.isArray(value["pages"]);

/** An answer of CompareTrials has parts of several experiments, so it is read again for a change of one of them. */
type Comparison = { readonly experiments: readonly Row[] };
const isComparison = (value: unknown): value is Comparison =>
  isRow(value) && Array.isArray(value["experiments"]) && Array.isArray(value["trials"]);

const isOf =
  ({ value: { id } }: TopicFrame) =>
  (row: Row): boolean =>
    idOf(row) === id;

/** The order of a list that is sorted by creation. */
export type RowOrder = "newest first" | "oldest first";

export type Patched = {
  readonly answer: unknown;
  /** The row belongs to the loaded part of the list, and the answer does not have it. */
  readonly isNew: boolean;
  /** Fields that frames leave out have changed as well. */
  readonly readAgain: boolean;
};

/** Applies a frame. With `inserted`, a new row takes its place in that order, and `isNew` is false. */
export function patched(answer: unknown, frame: TopicFrame, inserted?: RowOrder): Patched {
  const same: Patched = { answer, isNew: false, readAgain: false };
  if (isPages(answer)) {
    // A long list has thousands of rows, so only the page with the row is copied.
    const at = answer.pages.findIndex((page) => hasRow(page, frame));
    const page = answer.pages[at];
    if (page === undefined) {
      const came = withNew(answer.pages, frame, inserted);
      if (came.pages === answer.pages) return { ...same, isNew: came.isNew };
      return { ...same, answer: { ...answer, pages: came.pages } };
    }
    const pages = answer.pages.with(at, { ...page, items: patchedItems(page.items, frame) });
    return { ...same, answer: { ...answer, pages } };
  }
  if (isPage(answer)) {
    if (!hasRow(answer, frame)) {
      const { pages, isNew } = withNew([answer], frame, inserted);
      return { ...same, answer: pages[0], isNew };
    }
    return { ...same, answer: { ...answer, items: patchedItems(answer.items, frame) } };
  }
  if (isComparison(answer)) return { ...same, readAgain: answer.experiments.some(isOf(frame)) };
  if (!isRow(answer) || frame.case === "gone") return { ...same, readAgain: frame.case === "gone" };
  return { answer: merged(answer, documentOf(frame)), isNew: false, readAgain: true };
}

function hasRow({ items }: Page, { value: { id } }: TopicFrame): boolean {
  return items.some((row) => idOf(row) === id);
}

function patchedItems(items: readonly Row[], frame: TopicFrame): readonly Row[] {
  const { id } = frame.value;
  if (frame.case === "gone") return items.filter((row) => idOf(row) !== id);
  return items.map((row) => (idOf(row) === id ? merged(row, documentOf(frame)) : row));
}

const documentOf = (frame: Extract<TopicFrame, { case: "change" }>): Row =>
  frame.value.document.value ?? {};

/**
 * Fields that frames leave out: the configuration, the reason that a search waits, and the values that a list
 * requested.
 */
const leftOut = ["config", "waitsFor", "values", "logPoliciesMatched"];

function merged(row: Row, document: Row): Row {
  const kept = leftOut.flatMap((name) => (name in row ? [[name, row[name]] as const] : []));
  const next = { ...document, ...Object.fromEntries(kept) };
  return "values" in row ? { ...next, values: valuesOf(row, document) } : next;
}

/** The best value of the searcher's metric is a column of that name, and part of the frame. */
function valuesOf(row: Row, document: Row): unknown {
  const { values } = row;
  const { metric, bestValue } = document;
  if (!isRow(values) || typeof metric !== "string" || bestValue === undefined) return values;
  const name = Object.keys(values).find(
    (one) => one === `metrics.${metric}` || one === `metrics.${JSON.stringify(metric)}`,
  );
  return name === undefined ? values : { ...values, [name]: bestValue };
}

type Came = { readonly pages: readonly Page[]; readonly isNew: boolean };

function withNew(pages: readonly Page[], frame: TopicFrame, inserted?: RowOrder): Came {
  const same = { pages, isNew: false };
  if (frame.case === "gone") return same;
  const row = documentOf(frame);
  const isLoadedToItsEnd = (pages.at(-1)?.nextPageToken ?? "") === "";
  const isNewest = pages.every(({ items }) =>
    items.every((one) => createdMs(one) <= createdMs(row)),
  );
  if (inserted === undefined) return { pages, isNew: isLoadedToItsEnd || isNewest };
  // A row after the last loaded page is read with the next page.
  if (!isLoadedToItsEnd && (inserted === "oldest first" || !isNewest)) return same;
  return { pages: withRow(pages, row, inserted), isNew: false };
}

/** Inserts the row into the first page with a later row, or at the end of the last page. */
function withRow(pages: readonly Page[], row: Row, order: RowOrder): readonly Page[] {
  const ms = createdMs(row);
  const isBehind = (one: Row): boolean =>
    order === "newest first" ? createdMs(one) <= ms : createdMs(one) > ms;
  const found = pages.findIndex(({ items }) => items.some(isBehind));
  const at = found === -1 ? pages.length - 1 : found;
  return pages.map((page, index) => {
    const counted = index === 0 && page.total !== undefined ? { total: page.total + 1 } : {};
    if (index !== at) return index === 0 ? { ...page, ...counted } : page;
    const place = page.items.findIndex(isBehind);
    return {
      ...page,
      ...counted,
      items: page.items.toSpliced(place === -1 ? page.items.length : place, 0, row),
    };
  });
}

const createdMs = (row: Row): number => {
  const { createdAtMs } = row;
  return typeof createdAtMs === "number" ? createdAtMs : Number.NEGATIVE_INFINITY;
};
