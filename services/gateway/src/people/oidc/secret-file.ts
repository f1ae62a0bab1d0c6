/** The file with the secret of a client, which the operator names in the settings. */
import { accessSync, constants } from "node:fs";
import { readFile } from "node:fs/promises";

/** Returns the secret; an end of line after it does not count. */
export async function readSecret(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
}

export function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
