/** The files of a release of this checkout, made once for all tests of this folder. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";
import { root } from "../../scripts/lib/root.ts";

export const version = "9.8.7-rc.6";

/** The folder `out` has the tarballs; tests may write into `folder`. */
export let built: { readonly folder: string; readonly out: string };

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-release-test-"));
  built = { folder, out: join(folder, "out") };
  const script = join(root, "scripts", "tasks", "release.ts");
  await promisify(execFile)(process.execPath, [script, version, "--dry-run", "--out", built.out]);
  // In a new checkout it compiles all types.
}, 1_200_000);

afterAll(() => rmSync(built.folder, { recursive: true, force: true }));
