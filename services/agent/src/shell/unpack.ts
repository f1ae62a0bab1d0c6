/** Unpacks model code, after a look at all of it. */
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { refusalOfModelCode } from "@trainyard/blob";
import { extract } from "tar";
import type { Owner } from "../users/run-user.ts";

/** The archive is not what can be unpacked, with the reason for its owner. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

/** `onProgress` is called for every piece that was looked at or written. With an owner all of it is that user's. */
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
    // Piece by piece: given the file's name, tar would unpack 16 MiB of it, which may be gigabytes, in one turn.
    const unpacking = extract({
      cwd: folder,
      strict: true,
      preserveOwner: false,
      ...owner,
      onReadEntry: onProgress,
    });
    // tar's unpacker is a writable stream in all but its type.
    const writable = unpacking as unknown as NodeJS.WritableStream;
    await pipeline(createReadStream(packed), createGunzip(), writable);
  } catch (error) {
    // The disk and the system are not the archive's fault.
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
