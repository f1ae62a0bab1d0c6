/** Returns where a role holds. */
export const place = (workspace: string): string =>
  workspace === "" ? "everywhere" : `in ${workspace}`;
