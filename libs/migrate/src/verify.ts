/**
 * Verifies a restored log before a service writes to it: the hash chain, and an anchor that was kept elsewhere. Once
 * services have written, the log ends later, and the number of missing events is no longer what was lost.
 */
import { readFileSync } from "node:fs";
import { createPostgresLog, type LogAnchor } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { z } from "zod";

/** The findings that are listed: one is enough to know that the log was changed. */
const findingsMax = 20;

const anchorFile = z.object({
  position: z.string().regex(/^\d{1,15}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

export type Verified = { readonly holds: boolean; readonly lines: readonly string[] };

/** Reads the file that `yard log anchor` wrote. Throws a Fault if it is another. */
export function readAnchorFile(file: string): LogAnchor {
  try {
    const { position, hash } = anchorFile.parse(JSON.parse(readFileSync(file, "utf8")));
    return { position: Number(position), hash };
  } catch (cause) {
    const told = `${file} cannot be read, or "yard log anchor" did not write it`;
    throw new Fault("anchor_unreadable", told, { retry: "never", cause });
  }
}

/** Compares the log of the database with the anchor, without a write. */
export async function verifyLog(url: string, anchor: LogAnchor): Promise<Verified> {
  await using log = createPostgresLog({ connectionString: url, applicationName: "migrate" });
  const defects: string[] = [];
  for await (const { position, detail } of log.verify(0)) {
    defects.push(`chain: does not hold at position ${position}: ${detail}`);
    if (defects.length === findingsMax) break;
  }
  const head = await log.head();
  const chain = defects.length === 0 ? [`chain: holds up to position ${head}`] : defects;
  const missing = await log.checkAnchor(anchor);
  const told = `up to position ${anchor.position}`;
  const line =
    missing === null ? `anchor: holds ${told}` : `anchor: does not hold ${told}: ${missing.detail}`;
  return { holds: defects.length === 0 && missing === null, lines: [...chain, line] };
}
