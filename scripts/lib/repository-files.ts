import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";

/** Paths, relative to the checkout, of every committed file and every new file that git does not ignore. */
export function repositoryFiles(folder = root): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(folder, path)))
    .toSorted();
}
