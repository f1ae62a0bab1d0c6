import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar";

/** Writes the files of an archive of the platform below a folder, which is made if it is not there. */
export async function unpackInto(folder: string, body: ReadableStream<Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  const unpacking = extract({
    cwd: folder,
    strict: true,
    // The package takes a name like "x:y" for a path on a drive of Windows, unless a folder comes first.
    filter: (path, entry) => {
      if ("header" in entry) entry.path = `./${path}`;
      return true;
    },
  });
  await pipeline(Readable.fromWeb(body), createGunzip(), unpacking);
}
