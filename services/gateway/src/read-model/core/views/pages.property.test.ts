/** A history gives the same documents, however the log is cut into pages. */
import { array, assert, asyncProperty, integer } from "fast-check";
import { expect, test } from "vitest";
import { historyOf, steps } from "../../../testing/drawn-history.ts";
import type { StreamedEvent } from "../../../testing/folded-jobs.ts";
import { documentOfText, textOfDocument } from "./document-text.ts";
import { type DocumentRow, keyText } from "./documents.ts";
import { project } from "./project.ts";
import { fetchTouched } from "./touched.ts";

type Rows = Map<string, Omit<DocumentRow, "doc"> & { readonly text: string }>;

/** A table of documents, as `DocumentStore` writes it. */
class Table {
  readonly rows: Rows = new Map();
  readonly removed = new Set<string>();

  async apply(page: readonly StreamedEvent[], position: number): Promise<void> {
    const documents = await fetchTouched(page, async (keys) =>
      keys.flatMap((key) => {
        const { text, ...row } = this.rows.get(keyText(key)) ?? { text: "" };
        return text === "" ? [] : [{ ...row, doc: documentOfText(text) } as DocumentRow];
      }),
    );
    for (const [index, { stream, event }] of page.entries()) {
      const at = position + index + 1;
      project({ stream, timeMs: at * 1_000, position: at }, event, documents);
    }
    for (const { doc, ...row } of documents.changed()) {
      this.rows.set(keyText(row), { ...row, text: textOfDocument(doc) });
    }
    for (const id of documents.removed()) {
      this.removed.add(id);
      for (const kind of ["experiment", "config", "leaders"]) this.rows.delete(`${kind}/${id}`);
    }
    for (const key of documents.dropped()) this.rows.delete(keyText(key));
  }

  /** Removes what `removePiece` does: what it finds by the trials and checkpoints of the removed experiments. */
  clear(): void {
    const trials = new Set<string>();
    const all = [...this.rows.entries()];
    for (const [key, { kind, id, parent, text }] of all) {
      if (kind === "trial" && this.removed.has(parent)) {
        trials.add(id);
        this.rows.delete(key);
      }
      if (kind !== "checkpoint" || !this.removed.has(parent)) continue;
      if (/"state":"(?:DELETED|ERROR)"/.test(text)) this.rows.delete(key);
    }
    for (const [key, { kind, parent }] of all) {
      if ((kind === "run" || kind === "validation") && trials.has(parent)) this.rows.delete(key);
    }
  }

  sorted(): readonly string[] {
    return [...this.rows]
      .map(([key, { parent, ordinal, text }]) => `${key} ${parent} ${ordinal} ${sortedText(text)}`)
      .toSorted();
  }
}

/** The order of fields does not matter. */
function sortedText(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

async function folded(events: readonly StreamedEvent[], sizes: readonly number[]): Promise<Table> {
  const table = new Table();
  let at = 0;
  for (let page = 0; at < events.length; page += 1) {
    const size = sizes[page % sizes.length] ?? 1;
    await table.apply(events.slice(at, at + size), at);
    at += size;
  }
  return table;
}

test("a history gives the same documents, however the log is cut into pages", async () => {
  const cuts = array(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await assert(
    asyncProperty(steps, cuts, async (drawn, cut) => {
      const events = historyOf(drawn);
      const whole = await folded(events, [Math.max(1, events.length)]);
      whole.clear();
      for (const sizes of [[1], [2], [7], cut]) {
        const table = await folded(events, sizes);
        table.clear();
        expect(table.sorted(), `pages of ${sizes.join(", ")}`).toEqual(whole.sorted());
      }
      const left = [...whole.rows.values()].filter(
        ({ kind, parent }) =>
          (kind === "trial" || kind === "run" || kind === "validation") &&
          whole.removed.has(parent.split(".")[0] ?? ""),
      );
      expect(left).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
