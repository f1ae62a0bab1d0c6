/** The order of a list in the form of the API's orderBy: "field" or "field desc". */
export type Sort = { readonly field: string; readonly descending: boolean };

export const sortText = (sort: Sort | null): string =>
  sort === null ? "" : `${sort.field}${sort.descending ? " desc" : ""}`;

/** Reads an order; null for the list's default order. */
export function readSort(text: string): Sort | null {
  const found = /^(.+?)(?: (asc|desc))?$/.exec(text.trim());
  if (found === null) return null;
  return { field: found[1] ?? "", descending: found[2] === "desc" };
}

/** Returns the order after a click on a column's header: ascending, descending, the list's default. */
export function nextSort(sort: Sort | null, field: string): Sort | null {
  if (sort?.field !== field) return { field, descending: false };
  return sort.descending ? null : { field, descending: true };
}
