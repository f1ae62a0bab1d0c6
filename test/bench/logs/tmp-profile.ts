import { LogSource } from "@trainyard/contracts/commands";
import { TestLogs } from "@trainyard/service-logs/testing";
const lineOf = (allocation: string, sequence: number) => ({ allocation, nodeRank: 0, sequence, atMs: 1_700_000_000_000 + sequence, source: LogSource.STDOUT, text: `[rank=0] 2026-11-22 10:00:00 INFO step=${sequence} loss=${1 / (sequence + 1)} lr=0.001 img/s=1234.5`, continued: false, rank: 0 });
await using logs = await TestLogs.start();
await logs.replica();
let from = 0;
const go = async (batches: number) => { for (let i = 0; i < batches; i += 1) { await logs.written(Array.from({ length: 1000 }, (_, n) => lineOf("7.1#1", from + n))); from += 1000; } };
await go(10);
await logs.stage.sql("create extension if not exists pg_stat_statements").catch(() => {});
const s = process.cpuUsage(); const t = performance.now();
await go(40);
const e = process.cpuUsage(s);
console.log("node cpu ms/batch", ((e.user + e.system) / 40_000).toFixed(1), "wall ms/batch", ((performance.now() - t) / 40).toFixed(1));
const q = `explain (analyze, buffers, wal, costs off) with turn as materialized (select pg_advisory_xact_lock(hashtext('logs'), hashtext('lines'))),
inserted as (
insert into logs.lines (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, rank, level, received_ms)
select '7', '7.1', 1, 0, n, 1, 1, false, 'some text of ninety bytes some text of ninety bytes some text of ninety bytes '||n, 0, 0, extract(epoch from clock_timestamp()) * 1000
from turn, generate_series(1000001, 1001000) as n order by n
on conflict (experiment, trial, run, node_rank, sequence) do nothing
returning experiment, trial, run, node_rank, sequence, position, received_ms, octet_length(line) as bytes
) select trial, run, node_rank, sequence, position, received_ms from inserted`;
for (const row of await logs.stage.sql<Record<string,string>>(q)) console.log(Object.values(row)[0]);
