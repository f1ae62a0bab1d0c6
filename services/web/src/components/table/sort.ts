/** The order of a list as the API's orderBy has it: "field" or "field desc". */
export type Sort = { readonly field: string; readonly descending: boolean };

export const sortText = (sort: Sort | null): string =>
  sort === null ? "" : `${sort.field}${sort.descending ? " desc" : ""}`;

/** Null for the list's own order. */
export function readSort(text: string): Sort | null {
  const found = /^(.+?)(?: (asc|desc))?$/.exec(text.trim());
  if (found === null) return null;
  return { field: found[1] ?? "", descending: found[2] === "desc" };
}

/** A column's header was pressed: ascending, descending, the list's own order. */
export function nextSort(sort: Sort | null, field: string): Sort | null {
  if (sort?.field !== field) return { field, descending: false };
  return sort.descending ? null : { field, descending: true };
}
