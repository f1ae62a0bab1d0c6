/** Unpacks model code, after checking the whole archive. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { refusalOfModelCode } from "@trainyard/blob";
import { extract } from "tar";
import type { Owner } from "../state/run-user.ts";

/** The archive cannot be unpacked; the message is a reason for its owner. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

/** `onProgress` is called for each piece that was checked or written. With an owner, all files belong to that user. */
export async function unpack(
  packed: string,
  folder: string,
  onProgress: () => void = () => {},
  owner: Owner | null = null,
): Promise<void> {
  const refusal = await refusalOfModelCode(
    Readable.from(counted(createReadStream(packed), onProgress)),
  );
  if (refusal !== null) throw new BadArchive(`the model code is refused: ${refusal}`);
  try {
    // The archive is passed in pieces: given its name, tar would unpack 16 MiB of it, perhaps gigabytes, without
    // yielding.
    const unpacking = extract({
      cwd: folder,
      strict: true,
      preserveOwner: false,
      ...owner,
      onReadEntry: onProgress,
    });
    // tar's unpacker is a writable stream except for its type.
    const writable = unpacking as unknown as NodeJS.WritableStream;
    await pipeline(createReadStream(packed), createGunzip(), writable);
  } catch (error) {
    // A system error has a cause outside of the archive.
    if (error instanceof Error && "syscall" in error) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new BadArchive(`the model code cannot be unpacked (${detail})`);
  }
}

async function* counted(
  pieces: AsyncIterable<Buffer>,
  onPiece: () => void,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    onPiece();
    yield piece;
  }
}
