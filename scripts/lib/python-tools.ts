/** Ruff in a virtual environment below `.cache/`. The first use installs it, which takes some seconds. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.ts";
import { makeVirtualEnvironment } from "./virtual-environment.ts";

const folder = join(root, ".cache", "ruff");
export const ruffConfig = join(root, "ruff.toml");
/** The stamp is written last. A missing stamp means an unfinished environment, a different text another version. */
const stamp = join(folder, "packages.txt");

export type Ruff = { readonly program: string } | { readonly program: null; readonly why: string };

/** Returns the installed Ruff, in the version that `ruff.toml` requires. */
export function ruff(): Ruff {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === requiredPackage()) {
    return { program: join(folder, "bin", "ruff") };
  }
  return { program: null, why: "Ruff is not in .cache/ruff, which npm run check makes with pip" };
}

/** Returns Ruff; installs it first if it is missing or has another version. */
export async function makeRuff(say: (line: string) => void): Promise<Ruff> {
  const installed = ruff();
  if (installed.program !== null) return installed;
  say("making a virtual environment with Ruff in .cache/ruff (once; some seconds) …");
  const problem = await makeVirtualEnvironment(folder, [[requiredPackage()]], say);
  if (problem !== null) return { program: null, why: `Ruff cannot be installed: ${problem}` };
  writeFileSync(stamp, requiredPackage());
  return ruff();
}

function requiredPackage(): string {
  const version = /^required-version = "(==[^"]+)"$/m.exec(readFileSync(ruffConfig, "utf8"))?.[1];
  if (version === undefined) throw new Error("ruff.toml has no required-version");
  return `ruff${version}`;
}
