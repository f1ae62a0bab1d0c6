/** Checks a packed context before it is stored: a gzip-compressed tar whose entries stay inside it. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { limits } from "@trainyard/kernel";
import { Parser } from "tar";
import { Problem } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";

export type CheckedContext = { readonly digest: string; readonly bytes: number };

export async function checkContext(packed: Uint8Array): Promise<CheckedContext> {
  if (packed.length > limits.contextBytesMax) {
    throw new Problem(
      413,
      "context_too_large",
      `the context is ${mebibytes(packed.length)} MiB packed and may be ${mebibytes(limits.contextBytesMax)}; list what the training does not need in .trainyardignore`,
    );
  }
  await checkEntries(packed);
  return { digest: createHash("sha256").update(packed).digest("hex"), bytes: packed.length };
}

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

async function checkEntries(packed: Uint8Array): Promise<void> {
  let entries = 0;
  let unpacked = 0;
  let refusal: string | null = null;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      entries += 1;
      unpacked += entry.size;
      refusal ??= refusalOf(entry, entries, unpacked);
      entry.resume();
    },
  });
  try {
    await pipeline(Readable.from([packed]), parser as unknown as NodeJS.WritableStream); // tar's parser is a writable stream in all but its type.
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw invalid(`it is not a readable gzip-compressed tar (${detail})`);
  }
  if (refusal !== null) throw invalid(refusal);
}

type Entry = {
  readonly path: string;
  readonly type: string;
  readonly linkpath?: string | undefined;
};

function refusalOf(entry: Entry, entries: number, unpacked: number): string | null {
  if (escapes(entry.path)) return `${JSON.stringify(entry.path)} leads out of it`;
  const link = entry.type === "SymbolicLink" || entry.type === "Link";
  if (link && entry.linkpath !== undefined && escapes(targetOf(entry))) {
    return `the link ${JSON.stringify(entry.path)} leads out of it`;
  }
  if (!link && !["File", "OldFile", "Directory"].includes(entry.type)) {
    return `${JSON.stringify(entry.path)} is neither a file, a folder nor a link`;
  }
  if (entries > gatewayLimits.contextEntriesMax) {
    return `it has more than ${gatewayLimits.contextEntriesMax} entries`;
  }
  if (unpacked > gatewayLimits.contextUnpackedBytesMax) return "it unpacks to more than 2 GiB";
  return null;
}

/** Where a link points, seen from the archive's root. A hard link's target is from there already. */
function targetOf(entry: Entry): string {
  const target = entry.linkpath ?? "";
  if (entry.type === "Link" || target.startsWith("/")) return target;
  return [...entry.path.split("/").slice(0, -1), target].join("/");
}

function escapes(path: string): boolean {
  if (path.startsWith("/") || path.includes("\0")) return true;
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function invalid(why: string): Problem {
  return new Problem(400, "invalid_context", `the context is refused: ${why}`, {
    problems: [{ path: "context", detail: why }],
  });
}
