/**
 * Applies a frame to an answer that the tab has: a page of a list, the pages of a long list, or one document. Pure;
 * answers are shared between components and are never changed in place.
 */
import type { TopicFrame } from "./protocol.ts";

type Row = Readonly<Record<string, unknown>>;
type Page = { readonly items: readonly Row[]; readonly nextPageToken?: string };
type Pages = { readonly pages: readonly Page[] };

/** Agents have no id but a name. */
const idOf = (row: Row): unknown => row["id"] ?? row["name"];

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;
const isPage = (value: unknown): value is Page => isRow(value) && Array.isArray(value["items"]);
const isPages = (value: unknown): value is Pages => isRow(value) && Array.isArray(value["pages"]);

export type Patched = {
  readonly answer: unknown;
  /** The row belongs to the list, and the list does not show it yet. */
  readonly isNew: boolean;
  /** The answer has more than frames have, and that has changed too. */
  readonly readAgain: boolean;
};

export function patched(answer: unknown, frame: TopicFrame): Patched {
  const same: Patched = { answer, isNew: false, readAgain: false };
  if (isPages(answer)) {
    // A long list has thousands of rows: only the page that has the row is copied.
    const at = answer.pages.findIndex((page) => hasRow(page, frame));
    const page = answer.pages[at];
    if (page === undefined) return { ...same, isNew: isNewIn(answer.pages, frame) };
    const pages = answer.pages.with(at, { ...page, items: patchedItems(page.items, frame) });
    return { ...same, answer: { ...answer, pages } };
  }
  if (isPage(answer)) {
    if (!hasRow(answer, frame)) return { ...same, isNew: isNewIn([answer], frame) };
    return { ...same, answer: { ...answer, items: patchedItems(answer.items, frame) } };
  }
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
 * Fields that frames leave out: the configuration, the reason that a search waits, and the values that a list asked
 * for.
 */
const leftOut = ["config", "waitsFor", "values", "logPoliciesMatched"];

function merged(row: Row, document: Row): Row {
  const kept = leftOut.flatMap((name) => (name in row ? [[name, row[name]] as const] : []));
  const next = { ...document, ...Object.fromEntries(kept) };
  return "values" in row ? { ...next, values: valuesOf(row, document) } : next;
}

/** The best value of the searcher's metric is a column of its name, and is in the frame. */
function valuesOf(row: Row, document: Row): unknown {
  const { values } = row;
  const { metric, bestValue } = document;
  if (!isRow(values) || typeof metric !== "string" || bestValue === undefined) return values;
  const name = Object.keys(values).find(
    (one) => one === `metrics.${metric}` || one === `metrics.${JSON.stringify(metric)}`,
  );
  return name === undefined ? values : { ...values, [name]: bestValue };
}

/** A row behind the last loaded page is not new: it is newer than what is loaded, or the list is loaded to its end. */
function isNewIn(pages: readonly Page[], frame: TopicFrame): boolean {
  if (frame.case === "gone") return false;
  if ((pages.at(-1)?.nextPageToken ?? "") === "") return true;
  const createdAtMs = numberOf(documentOf(frame)["createdAtMs"]);
  return pages.every(({ items }) =>
    items.every((row) => numberOf(row["createdAtMs"]) <= createdAtMs),
  );
}

const numberOf = (value: unknown): number =>
  typeof value === "number" ? value : Number.NEGATIVE_INFINITY;
