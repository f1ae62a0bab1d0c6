type List = {
  readonly items: readonly { readonly name: string }[];
  readonly nextPageToken: string;
};

/**
 * Returns the workspaces that a form offers, of the first page of their list; undefined for one that could not be read.
 * `default` is offered if the page cannot tell that there is none.
 */
export function offeredWorkspaces(
  list: List | undefined,
  may: (workspace: string) => boolean,
): readonly string[] {
  const names = list?.items.map(({ name }) => name) ?? [];
  const known = list?.nextPageToken === "" ? names : [...new Set([...names, "default"])];
  return known.filter(may);
}
