/** The suffix of an integration test: it starts a server, a process or a worker. */
export const integrationSuffix = ".int.test.ts";

/** Suites of the whole platform and of the repository take longer than unit tests may. */
export function isSuite(file: string): boolean {
  return /^test\/(?!compat\/)/.test(file);
}

/** The unit tests: they start no server and no process, and all of them take seconds. */
export function unitTests(files: readonly string[]): readonly string[] {
  return files.filter(
    (file) => file.endsWith(".test.ts") && !file.endsWith(integrationSuffix) && !isSuite(file),
  );
}
