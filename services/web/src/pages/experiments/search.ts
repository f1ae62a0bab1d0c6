/** The URL of the list of experiments: everything that decides what is shown. */
export type Search = {
  readonly filter?: string;
  /** The list's order, as the API's orderBy. */
  readonly sort?: string;
  /** The columns' layout, as layoutText writes it. */
  readonly columns?: string;
  readonly workspace?: string;
  readonly project?: string;
  /** Archived experiments are shown as well. */
  readonly archived?: true;
  /** Rows are 28 px high. */
  readonly compact?: true;
  /** The experiment that the inspector shows. */
  readonly at?: string;
};

const texts = ["filter", "sort", "columns", "workspace", "project", "at"] as const;
const flags = ["archived", "compact"] as const;

/** Reads only known, non-empty parameters, so that equal views have equal searches. */
export function readSearch(given: Record<string, unknown>): Search {
  const search: Record<string, string | true> = {};
  for (const name of texts) {
    const value = given[name];
    // The router reads an id, which looks like a number, as a number.
    if (typeof value === "number") search[name] = String(value);
    if (typeof value === "string" && value.trim() !== "") search[name] = value;
  }
  for (const name of flags) if (given[name] === true) search[name] = true;
  return search;
}

/** A change of the URL; parameters that are undefined or false are removed. */
export type SearchChange = { readonly [Name in keyof Search]?: Search[Name] | undefined | false };

export function changedSearch(search: Search, change: SearchChange): Search {
  return readSearch({ ...search, ...change });
}

/** The list's filter for the live topic, in which the workspace and the project are conditions too. */
export function topicFilter({ filter = "", workspace, project }: Search): string {
  const places = [
    ...(workspace === undefined ? [] : [`workspace = ${JSON.stringify(workspace)}`]),
    ...(project === undefined ? [] : [`project = ${JSON.stringify(project)}`]),
  ];
  if (places.length === 0) return filter;
  return [...(filter === "" ? [] : [`(${filter})`]), ...places].join(" and ");
}
