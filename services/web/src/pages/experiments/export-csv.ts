import { saveAs } from "../../components/save-as.ts";
import { placeColumns } from "../../components/table/columns.ts";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import { client } from "../../data/client.ts";
import { attributesIn, type Row } from "./columns.tsx";
import { csvText } from "./csv.ts";
import { listRequest } from "./list.ts";
import type { Search } from "./search.ts";

const rowsMax = 100_000;

/** Reads all rows of the list, in order, including those that are not loaded. */
async function allRows(search: Search, attributes: readonly string[]) {
  const rows: Row[] = [];
  let pageToken = "";
  do {
    const request = { ...listRequest(search, attributes), pageSize: 1_000, pageToken };
    const page = await client.call("listExperiments", request);
    rows.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && rows.length < rowsMax);
  return { rows, isCut: pageToken !== "" };
}

/**
 * Saves the shown columns of the list, or of the selected rows if there are any, as a file. Returns the number of rows,
 * and whether the list has more.
 */
export async function exportCsv(
  search: Search,
  columns: readonly Column<Row>[],
  layout: ColumnLayout,
  selected: readonly Row[],
): Promise<{ readonly rows: number; readonly isCut: boolean }> {
  const { rows, isCut } =
    selected.length > 0
      ? { rows: selected, isCut: false }
      : await allRows(search, attributesIn(layout));
  const text = csvText(placeColumns(columns, layout), rows);
  saveAs("experiments.csv", new Blob([text], { type: "text/csv" }));
  return { rows: rows.length, isCut };
}
