/**
 * Log lines: stored by the service and by a bare COPY, searched for a rare word, and written beside a run with many
 * lines.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import { type LogLine, LogSource } from "@trainyard/contracts/commands";
import { TestLogs } from "@trainyard/service-logs/testing";
import { type BenchContext, type BenchResult, costResult, rateResult } from "../support/bench.ts";
import { interleave, median, percentile } from "../support/measure.ts";

const ingest = { id: "ingest_lines_vs_copy", unit: "lines/s", floor: null, goal: null };
const searchBar = { id: "search_1m_lines_ms", unit: "ms", floor: null, goal: null };
const neighbour = { id: "flood_neighbour_p99_ms", unit: "ms", floor: null, goal: null };
const batchLines = 1_000;
const writers = 8;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  await using logs = await TestLogs.start();
  await logs.replica();
  return [
    ...(context.wants(ingest.id) ? [await ingested(logs, context)] : []),
    ...(context.wants(searchBar.id) ? [await searched(logs, context)] : []),
    ...(context.wants(neighbour.id) ? [await besideAFlood(logs, context)] : []),
  ];
}

function lineOf(allocation: string, sequence: number): Plain<LogLine> {
  const text = `[rank=0] 2026-11-22 10:00:00 INFO step=${sequence} loss=${1 / (sequence + 1)} lr=0.001 img/s=1234.5`;
  const atMs = 1_700_000_000_000 + sequence;
  return {
    allocation,
    nodeRank: 0,
    sequence,
    atMs,
    source: LogSource.STDOUT,
    text,
    continued: false,
    rank: 0,
  };
}

/** Stores a run's lines in batches, one after the other, like an agent. */
async function fill(logs: TestLogs, run: string, lines: number): Promise<void> {
  for (let from = 0; from < lines; from += batchLines) {
    const count = Math.min(batchLines, lines - from);
    const batch = Array.from({ length: count }, (_, n) => lineOf(run, from + n));
    await logs.written(batch);
  }
}

async function ingested(logs: TestLogs, context: BenchContext): Promise<BenchResult> {
  const lines = { tiny: 2_000, short: 100_000, full: 1_000_000 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 5 }[context.size];
  const folder = await mkdtemp(join(tmpdir(), "trainyard-lines-"));
  try {
    // The server reads the file as another user.
    await chmod(folder, 0o755);
    const file = join(folder, "lines.tsv");
    const rows = Array.from({ length: lines }, (_, n) => lineOf("1.1#1", n));
    const text = rows.map((row) => `1\t1.1\t1\t0\t${row.sequence}\t${row.atMs}\t${row.text}\n`);
    await writeFile(file, text.join(""), { mode: 0o644 });
    await logs.stage.sql(
      "create table bare (experiment text, trial text, run integer, node_rank integer, sequence bigint, at_ms double precision, line text)",
    );
    let experiment = 1_000;
    const ours = async (): Promise<number> => {
      experiment += 1;
      const write = (writer: number) => fill(logs, `${experiment}.${writer}#1`, lines / writers);
      return await perSecond(lines, () =>
        Promise.all(Array.from({ length: writers }, (_, n) => write(n + 1))),
      );
    };
    const copied = (): Promise<number> =>
      perSecond(lines, () => logs.stage.sql(`copy bare from '${file}'`));
    const [copy, stored] = await interleave(
      [
        { name: "COPY of a file", round: copied },
        { name: "ours", round: ours },
      ],
      rounds,
      context,
    );
    const note = `${lines} lines of some 90 bytes, ${writers} runs, batches of ${batchLines}; the table beside it has no index`;
    return rateResult(ingest, stored, copy, note);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function perSecond(lines: number, work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return lines / ((performance.now() - startMs) / 1_000);
}

/**
 * Searches an experiment for a word that one line has: from the query to the end of the search, with the index and
 * without.
 */
async function searched(logs: TestLogs, context: BenchContext): Promise<BenchResult> {
  const lines = { tiny: 5_000, short: 1_000_000, full: 10_000_000 }[context.size];
  const rounds = { tiny: 1, short: 5, full: 5 }[context.size];
  context.say(`storing ${lines} lines`);
  const bytes = await storeBelow(logs, lines);
  const search = async (): Promise<number> => {
    const startMs = performance.now();
    let found = 0;
    for (let after = "", more = true; more; ) {
      const page = await logs.page({ task: "9", search: "needle", after });
      found += page.lines.length;
      ({ next: after, more } = page);
    }
    if (found !== 1) throw new Error(`${found} lines were found instead of one`);
    return performance.now() - startMs;
  };
  const without = await search();
  context.say(`  without the index: ${without.toPrecision(4)} ms; making it`);
  await indexed(logs, bytes);
  const took: number[] = [];
  for (let round = 0; round <= rounds; round += 1) took.push(await search());
  return costResult(
    searchBar,
    median(took.slice(1)),
    without,
    `${lines} lines of one experiment, one of which has the word; beside one search before the index is made`,
  );
}

/** Stores lines of experiment 9 directly in the database, which the index does not count yet; returns their bytes. */
async function storeBelow(logs: TestLogs, lines: number): Promise<number> {
  const { text } = lineOf("9.1#1", 0);
  const [before = "", after = ""] = text.split("step=0");
  const [row] = await logs.stage.sql<{ bytes: number }>(
    `with stored as (
       insert into logs.lines
         (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, rank, level, received_ms)
       select '9', '9.1', 1, 0, n, n, 1, false,
         $1 || case when n = $4 then 'needle' else 'step' end || '=' || n || $2 || ' of ' || 1.0::float8 / (n + 1), 0, 0, n
       from generate_series(1, $3) as n
       returning octet_length(line) as bytes
     ) select sum(bytes)::float8 as bytes from stored`,
    [before, after, lines, lines >> 1],
  );
  await logs.stage.sql("vacuum analyze logs.lines");
  return row?.bytes ?? 0;
}

async function indexed(logs: TestLogs, bytes: number): Promise<void> {
  await logs.stage.sql(
    "insert into logs.experiments (experiment, bytes, unindexed_bytes) values ('9', $1, $1)",
    [bytes],
  );
  for (;;) {
    const due = "select from logs.experiments where experiment = '9' and unindexed_bytes >= 262144";
    if ((await logs.stage.sql(due)).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * Measures the time until a sent line is stored, with and without another run that sends batches as fast as they are
 * accepted.
 */
async function besideAFlood(logs: TestLogs, context: BenchContext): Promise<BenchResult> {
  const writes = { tiny: 5, short: 300, full: 2_000 }[context.size];
  let sequence = 0;
  const delays = async (): Promise<number> => {
    const ms: number[] = [];
    for (let n = 0; n < writes; n += 1) {
      const startMs = performance.now();
      sequence += 1;
      await logs.written([lineOf("8.1#1", sequence)]);
      ms.push(performance.now() - startMs);
    }
    return percentile(ms, 0.99);
  };
  const flooded = async (): Promise<number> => {
    let over = false;
    let lines = 0;
    const flooding = (async () => {
      while (!over) {
        const from = lines;
        await logs.written(Array.from({ length: batchLines }, (_, n) => lineOf("7.1#1", from + n)));
        lines += batchLines;
      }
    })();
    const startMs = performance.now();
    const p99 = await delays();
    over = true;
    await flooding;
    context.say(
      `  the flood: ${Math.round(lines / ((performance.now() - startMs) / 1_000))} lines/s`,
    );
    return p99;
  };
  const [quiet, beside] = await interleave(
    [
      { name: "alone", round: delays },
      { name: "beside a flood", round: flooded },
    ],
    context.size === "tiny" ? 1 : 3,
    context,
  );
  return costResult(neighbour, beside, quiet, "one line at a time, until it is acknowledged");
}
