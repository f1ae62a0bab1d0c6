import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import process from "node:process";

/**
 * Returns the value of PATH with the folder of the interpreter that `python3` starts first, if another program of that
 * name comes first: a version manager's shim, such as pyenv's, takes longer than the start of Python itself, and the
 * tests start it some hundred times. Without a Python 3 the value stays as it is, and the tests that need one say so.
 */
export function withPythonFirst(path: string): string {
  const first = path.split(delimiter).find((folder) => existsSync(join(folder, "python3")));
  const program = ["-c", "import sys; print(sys.executable)"];
  const env = { ...process.env, PATH: path };
  const { status, stdout } = spawnSync("python3", program, { env, encoding: "utf8" });
  if (status !== 0 || !isAbsolute(stdout.trim())) return path;
  const folder = dirname(stdout.trim());
  return folder === first ? path : `${folder}${delimiter}${path}`;
}
