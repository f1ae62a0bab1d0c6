/** Validates an agent's batch: parses its lines' runs, or returns the problems with their paths. */
import type { Plain } from "@trainyard/contracts";
import {
  type LogLevel,
  type LogLine,
  LogSource,
  type WriteLines,
} from "@trainyard/contracts/commands";
import { type FieldProblem, type Rejection, reject } from "@trainyard/kernel";
import { levelOf } from "./level.ts";
import { withoutTokens } from "./masked-tokens.ts";
import { type LineOwner, ownerOf } from "./owner.ts";

/** One stored line. */
export type LineRow = LineOwner & {
  readonly nodeRank: number;
  readonly sequence: number;
  readonly atMs: number;
  readonly source: LogSource;
  readonly continued: boolean;
  readonly text: string;
  /** The rank of the process; null when no launcher set it. */
  readonly rank: number | null;
  readonly level: LogLevel;
};

export type BatchLimits = { readonly batchBytesMax: number; readonly lineBytesMax: number };

const problemsMax = 16;
const rankMax = 2 ** 31 - 1;
const sources: readonly LogSource[] = [LogSource.STDOUT, LogSource.STDERR, LogSource.AGENT];

export function parseBatch(
  { lines }: Plain<WriteLines>,
  limits: BatchLimits,
): readonly LineRow[] | Rejection {
  const problems: FieldProblem[] = [];
  const rows: LineRow[] = [];
  let bytes = 0;
  for (const [index, line] of lines.entries()) {
    const textBytes = utf8Length(line.text);
    bytes += textBytes;
    const owner = ownerOf(line.allocation);
    const found = problemsOf(line, textBytes, limits);
    for (const { path, detail } of found)
      problems.push({ path: `lines[${index}].${path}`, detail });
    if (problems.length >= problemsMax) break;
    if (owner !== null && found.length === 0) rows.push(rowOf(owner, line));
  }
  const [first] = problems;
  if (first !== undefined) {
    return reject("invalid_request", `${first.path} ${first.detail}`, problems);
  }
  if (bytes > limits.batchBytesMax) {
    const detail = `has ${bytes} bytes of text; a batch may have at most ${limits.batchBytesMax}`;
    return reject("batch_too_large", `lines ${detail}`, [{ path: "lines", detail }]);
  }
  return rows;
}

/** The first run in a batch that no token of the batch covers; null when all are covered. */
export function unprovenRun(
  { lines }: Plain<WriteLines>,
  proven: ReadonlySet<string>,
): string | null {
  return lines.find(({ allocation }) => !proven.has(allocation))?.allocation ?? null;
}

function rowOf(owner: LineOwner, line: Plain<LogLine>): LineRow {
  const { nodeRank, sequence, atMs, source, continued, rank = null } = line;
  const text = withoutTokens(line.text);
  const said = { atMs, source, continued, text, rank, level: levelOf(text) };
  return { ...owner, nodeRank, sequence, ...said };
}

function problemsOf(
  { allocation, nodeRank, sequence, atMs, source, rank = 0 }: Plain<LogLine>,
  textBytes: number,
  limits: BatchLimits,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const claim = (holds: boolean, path: string, detail: string): void => {
    if (!holds) problems.push({ path, detail });
  };
  claim(ownerOf(allocation) !== null, "allocation", "is a run's id, as 12.3#2 or t12#1");
  claim(nodeRank <= rankMax, "nodeRank", `is at most ${rankMax}`);
  claim(rank <= rankMax, "rank", `is at most ${rankMax}`);
  claim(Number.isSafeInteger(sequence) && sequence >= 0, "sequence", "is a whole number from 0");
  claim(Number.isFinite(atMs), "atMs", "is milliseconds since 1970");
  claim(sources.includes(source), "source", "is stdout, stderr or the agent");
  claim(textBytes <= limits.lineBytesMax, "text", `is more than ${limits.lineBytesMax} bytes`);
  return problems;
}

/** The size of a text in UTF-8 bytes; the core has neither Buffer nor TextEncoder. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    // Each half of a surrogate pair counts two bytes, so the pair counts four.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}
