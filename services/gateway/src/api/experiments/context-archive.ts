/** Checks a packed context before it is stored: a gzip-compressed tar whose entries stay inside it. */
import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import { refusalOfModelCode } from "@trainyard/blob";
import { limits } from "@trainyard/kernel";
import { Problem } from "../../http/problem.ts";
import type { ScriptCheck } from "./script-check.ts";

/** The size of the pieces in which a context is checked, hashed or written without blocking the event loop. */
const contextPieceBytes = 64 * 1024;

export type CheckedContext = { readonly digest: string; readonly bytes: number };

/** Checks a context, and that it has the script of the entrypoint. Throws a Problem if it is refused. */
export async function checkContext(
  packed: Uint8Array,
  script: ScriptCheck | null,
): Promise<CheckedContext> {
  if (packed.length > limits.contextBytesMax) {
    throw new Problem(
      413,
      "context_too_large",
      `the context is ${mebibytes(packed.length)} MiB packed and may be ${mebibytes(limits.contextBytesMax)}; list what the training does not need in .trainyardignore`,
    );
  }
  const hash = createHash("sha256");
  // Hashes the bytes while they are checked, so that no single step blocks the event loop for all of them.
  const refusal = await refusalOfModelCode(Readable.from(inPieces(packed, hash)), script?.see);
  if (refusal !== null) throw invalid(refusal);
  script?.refuse();
  return { digest: hash.digest("hex"), bytes: packed.length };
}

/** Splits a context into pieces that are quickly checked, hashed and written. */
export function* inPieces(packed: Uint8Array, hash?: Hash): Generator<Uint8Array> {
  for (let at = 0; at < packed.length; at += contextPieceBytes) {
    const piece = packed.subarray(at, at + contextPieceBytes);
    hash?.update(piece);
    yield piece;
  }
}

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

function invalid(why: string): Problem {
  return new Problem(400, "invalid_context", `the context is refused: ${why}`, {
    problems: [{ path: "context", detail: why }],
  });
}
