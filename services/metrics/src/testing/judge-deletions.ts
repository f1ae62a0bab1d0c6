/**
 * Judges the life of an experiment in the service, with a crash at each commit: points are superseded when a trial
 * continues, and rows of an experiment that is deleted for good are deleted in batches. A restored experiment, and one
 * whose id has the same prefix, keep their rows. A late spool stores nothing.
 */
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createPostgresLog, deriveCommitId, type EventLog } from "@trainyard/event-log";
import { assert, isRejection, parseRunId } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  createLogger,
  Executor,
  emptyMeta,
  FoldCache,
  LostRuns,
  migrate,
  RunGrants,
} from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { type Mortal, strikeEach } from "@trainyard/runtime/mortal";
import pg from "pg";
import { parseReports } from "../core/reports.ts";
import { metricsLimits } from "../limits.ts";
import { compactDue } from "../shell/compaction.ts";
import { Ingest } from "../shell/ingest.ts";
import { PointStore } from "../shell/point-store.ts";
import { purgeDeleted } from "../shell/purge.ts";
import { reactionHandlers } from "../shell/reactions.ts";
import { runTables } from "../shell/run-tables.ts";
import { requested } from "./events.ts";

const migrations = join(import.meta.dirname, "../../migrations");
const tables = [
  "tails",
  "past_tails",
  "supersessions",
  "blocks",
  "system_points",
  "system_totals",
  "names",
  "runs",
] as const;
/** Small, so that each table takes several batches. */
const rowsMax = 2;

class Lives {
  readonly #stage: DatabaseStage;
  readonly #pool: pg.Pool;
  readonly #log: EventLog;
  readonly #logger = createLogger("metrics", "silent");
  #experiments = 10;

  constructor(stage: DatabaseStage, pool: pg.Pool, log: EventLog) {
    this.#stage = stage;
    this.#pool = pool;
    this.#log = log;
  }

  async live(mortal: Mortal): Promise<readonly string[]> {
    this.#experiments += 1;
    const gone = String(this.#experiments);
    const [kept, alike] = [`${gone}00`, `${gone}01`];
    for (const experiment of [gone, kept, alike]) await this.#train(experiment, mortal);
    const before = [await this.#rows(kept), await this.#rows(alike)];
    const violations = await this.#supersededOnce(`${gone}.1`);
    if ((await this.#rows(gone)).includes(0)) violations.push("a table has nothing to delete");
    for (const experiment of [gone, kept]) {
      await this.#tell(experiment, "ExperimentDeletionRequested");
    }
    await this.#tell(kept, "ExperimentDeletionUndone");
    const position = await this.#tell(gone, "ExperimentDeleted");
    await this.#purge(mortal.pool(this.#pool)).catch((error: unknown) => {
      if (!mortal.isDead) throw error;
    });
    await this.#purge(this.#pool);
    if (await this.#report(`${gone}.1`, 2, 90)) violations.push("a late report was stored");
    const left = await this.#rows(gone);
    if (left.some((rows) => rows > 0)) violations.push(`rows are left: ${left.join()}`);
    const after = [await this.#rows(kept), await this.#rows(alike)];
    if (String(after) !== String(before)) {
      violations.push(`of experiments that stay ${String(after)}, were ${String(before)}`);
    }
    const [purged] = await this.#stage.sql<{ position: string }>(
      "select position from metrics.purged",
    );
    if (Number(purged?.position) < position) violations.push("it looks at the deletion again");
    return violations;
  }

  /** Trains two runs; the first ends up in blocks, the second in tails. */
  async #train(experiment: string, mortal: Mortal): Promise<void> {
    const trial = `${experiment}.1`;
    await this.#stage.tell(`trial-${trial}`, requested(1, 0));
    for (const step of [1, 2, 3]) await this.#report(trial, 1, step);
    await this.#pool.query("update metrics.runs set due_at = now() where trial = $1", [trial]);
    await compactDue(this.#pool, this.#logger);
    await this.#continue(trial, mortal);
    for (const step of [3, 4, 5]) await this.#report(trial, 2, step);
  }

  /** Handles the request of a second run; repeats the reaction if the process crashed in it. */
  async #continue(trial: string, mortal: Mortal): Promise<void> {
    await this.#stage.tell(`trial-${trial}`, requested(2, 2));
    const [stored] = (await this.#log.read(`trial-${trial}`, 1, 1)).slice(-1);
    assert(stored !== undefined, "a second run was requested");
    const identity = { commitId: deriveCommitId("judged", trial), meta: emptyMeta };
    const react = async (pool: pg.Pool, log: EventLog): Promise<void> => {
      const executor = new Executor(log, new FoldCache(log));
      const event = { stored, id: trial, data: requested(2, 2).data };
      await executor.execute(identity, (work) => {
        return reactionHandlers(pool).RunRequested?.(event, work) ?? Promise.resolve();
      });
    };
    const isWhole = mortal.isDead
      ? false
      : await react(mortal.pool(this.#pool), mortal.log(this.#log)).then(
          () => true,
          () => false,
        );
    assert(isWhole || mortal.isDead, "a reaction fails only by a death");
    if (!isWhole) await react(this.#pool, this.#log);
  }

  async #supersededOnce(trial: string): Promise<string[]> {
    const events = await this.#stage.events(`measurement-${trial}`);
    const told = events.filter(({ type }) => type === "MeasurementsSuperseded").length;
    const text = "select from metrics.supersessions where trial = $1";
    const rows = (await this.#stage.sql(text, [trial])).length;
    return told === 1 && rows === 1 ? [] : [`superseded ${told} times, with ${rows} rows`];
  }

  /** Reports a step. Returns false if the run is unknown. */
  async #report(trial: string, run: number, step: number): Promise<boolean> {
    const about = { stepsCompleted: step, atMs: 1_700_000_000_000 + step };
    const system = { node: 0, samples: 1, values: [{ name: "u", min: 1, mean: 2, max: 3 }] };
    const reports = [
      { key: `${run}-${step}-t`, group: "training", ...about, metrics: { loss: 1, accuracy: 2 } },
      { key: `${run}-${step}-v`, group: "validation", ...about, metrics: { loss: 1 } },
      { key: `${run}-${step}-s`, group: "cpu", ...about, system },
    ];
    const parsed = parseReports({ reports }, metricsLimits);
    assert(!isRejection(parsed), `reports are well formed: ${JSON.stringify(parsed)}`);
    const executor = new Executor(this.#log, new FoldCache(this.#log));
    const log = this.#log;
    const grants = new RunGrants(log, systemClock);
    const lost = new LostRuns({ pool: this.#pool, log, grants, tables: runTables });
    const store = new PointStore(this.#pool, lost);
    const events = { taken: () => {} };
    await using bus = createMemoryBus().connect("metrics");
    const ingest = new Ingest({ executor, bus, store, events });
    const parts = parseRunId(`${trial}#${run}`);
    assert(parts !== null, `${trial} is a trial`);
    const allocation = `${trial}#${run}`;
    const [first] = await log.readAll(0, 1);
    const grant = { allocation, grantPosition: 1, grantId: first?.id ?? "" };
    const taken = await ingest.take(parts, grant, parsed.reports);
    return taken.kind === "taken";
  }

  async #purge(pool: pg.Pool): Promise<void> {
    const ahead = metricsLimits.purgeAfterMs + 1_000;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + ahead };
    while (await purgeDeleted({ pool, log: this.#log, clock, rowsMax })) {
      // purgeDeleted returns false after the last page of the log.
    }
  }

  async #rows(experiment: string): Promise<readonly number[]> {
    const counts = tables.map(
      (table) => `(select count(*) from metrics.${table} where trial like '${experiment}.%')`,
    );
    const text = `select array[${counts.join()}]::int[] as rows`;
    const [row] = await this.#stage.sql<{ rows: number[] }>(text);
    return row?.rows ?? [];
  }

  #tell(
    experiment: string,
    type: "ExperimentDeletionRequested" | "ExperimentDeletionUndone" | "ExperimentDeleted",
  ): Promise<number> {
    const stream = `experiment-${experiment}`;
    if (type !== "ExperimentDeletionRequested") return this.#stage.tell(stream, { type, data: {} });
    return this.#stage.tell(stream, { type, data: { graceEndMs: 1, reason: "" } });
  }
}

export async function judgeDeletions(): ReturnType<typeof strikeEach> {
  // The stage has its own server, since a campaign has no folder for temporary files.
  await using stage = await DatabaseStage.start("metrics", {});
  const connectionString = stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 4 });
  pool.on("error", () => {}); // Connections of a dead process are destroyed.
  try {
    await migrate(pool, "metrics", migrations);
    const lives = new Lives(stage, pool, log);
    return await strikeEach((mortal) => lives.live(mortal));
  } finally {
    await pool.end();
  }
}
