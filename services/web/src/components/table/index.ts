export { ColumnsDialog } from "./columns-dialog.tsx";
export { type Column, type ColumnLayout, layoutText, readLayout } from "./columns.ts";
export { noSelection, type Selection } from "./selection.ts";
export { nextSort, readSort, type Sort, sortText } from "./sort.ts";
export { Table } from "./table.tsx";
