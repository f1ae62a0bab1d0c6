/** Writes the folder of a notebook, with new content for each version. */
import { randomBytes } from "node:crypto";
import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type FolderSize = {
  /** The number of large files, with so many bytes each. */
  readonly large: number;
  readonly bytes: number;
  readonly small: number;
};

const block = randomBytes(1_024 ** 2);

export async function writeFolder(
  path: string,
  { large, bytes, small, version }: FolderSize & { readonly version: number },
): Promise<void> {
  await mkdir(path);
  for (let n = 0; n < large; n += 1) {
    await using file = await open(join(path, `large-${n}.bin`), "w");
    for (let at = 0; at < bytes; at += block.length) {
      // No block occurs twice.
      block.write(`${version} ${n} ${at} `);
      await file.write(block);
    }
  }
  for (let n = 0; n < small; n += 1) {
    await writeFile(join(path, `small-${n}.txt`), `${version} ${n}\n`.repeat(n));
  }
}
