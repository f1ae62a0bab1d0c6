/** Checks a packed context before it is stored: a gzip-compressed tar whose entries stay inside it. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { refusalOfModelCode } from "@trainyard/blob";
import { limits } from "@trainyard/kernel";
import { Problem } from "../http/problem.ts";

export type CheckedContext = { readonly digest: string; readonly bytes: number };

export async function checkContext(packed: Uint8Array): Promise<CheckedContext> {
  if (packed.length > limits.contextBytesMax) {
    throw new Problem(
      413,
      "context_too_large",
      `the context is ${mebibytes(packed.length)} MiB packed and may be ${mebibytes(limits.contextBytesMax)}; list what the training does not need in .trainyardignore`,
    );
  }
  const refusal = await refusalOfModelCode(Readable.from([packed]));
  if (refusal !== null) throw invalid(refusal);
  return { digest: createHash("sha256").update(packed).digest("hex"), bytes: packed.length };
}

const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);

function invalid(why: string): Problem {
  return new Problem(400, "invalid_context", `the context is refused: ${why}`, {
    problems: [{ path: "context", detail: why }],
  });
}
