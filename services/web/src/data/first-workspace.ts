/** Returns the workspace that a form begins with: not everybody may use the default one. */
export const firstWorkspace = (names: readonly string[]): string =>
  names.includes("default") ? "default" : (names[0] ?? "default");
