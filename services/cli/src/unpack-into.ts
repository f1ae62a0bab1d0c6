import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar";

/** Writes the files of an archive below a folder, which is created if it is missing. */
export async function unpackInto(folder: string, body: ReadableStream<Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unpacking = extract({
    cwd: folder,
    strict: true,
    // The package tar reads a name like "x:y" as a path on a Windows drive, unless a folder precedes it.
    filter: (path, entry) => {
      if ("header" in entry) entry.path = `./${path}`;
      return true;
    },
  });
  await pipeline(Readable.fromWeb(body), createGunzip(), unpacking);
}
