import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";

const checkout = resolve(import.meta.dirname, "../../../..");

/**
 * Returns the file that Node runs for a program or a worker thread: its compiled file, if TRAINYARD_PROGRAMS names a
 * folder that has one, else its source, an absolute path. The scripts of the checkout set the variable after they have
 * compiled the sources as they are (scripts/lib/programs).
 */
export function programFile(
  source: string,
  folder: string | undefined = process.env["TRAINYARD_PROGRAMS"],
): string {
  if (folder === undefined || folder === "") return source;
  const compiled = join(folder, relative(checkout, source).replace(/\.ts$/, ".js"));
  return existsSync(compiled) ? compiled : source;
}
