/**
 * Judges the deletion of an experiment, with a crash at each of the service's commits. The lines are removed in
 * batches, and each is counted once. No line is removed during the grace. A restored experiment, and one whose id has
 * the same prefix, keep their lines. Lines that arrive late are removed by the next sweep.
 */
import { join } from "node:path";
import { LogLevel, LogSource } from "@trainyard/contracts/commands";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, migrate } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { type Mortal, strikeEach } from "@trainyard/runtime/mortal";
import pg from "pg";
import { logLives } from "../shell/lives.ts";
import { RetentionTable } from "../shell/retention-table.ts";
import { LineTable } from "../shell/line-table.ts";
import { Retention } from "../shell/retention.ts";

const migrations = join(import.meta.dirname, "../../migrations");
const lines = 7;
const late = 2;
/** Small, so that removing the lines takes several batches. */
const linesMax = 3;

class Lives {
  readonly #stage: DatabaseStage;
  readonly #pool: pg.Pool;
  readonly #log: EventLog;
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
    const counts = () => Promise.all([gone, kept, alike].map((one) => this.#count(one)));
    const violations: string[] = [];
    const expect = async (when: string, ...wanted: readonly number[]): Promise<void> => {
      const found = await counts();
      if (String(found) !== String(wanted)) {
        violations.push(`${when}: ${found.join()} lines, wanted ${wanted.join()}`);
      }
    };
    for (const experiment of [gone, kept, alike]) await this.#write(experiment, 0, lines);
    for (const experiment of [gone, kept]) {
      await this.#tell(experiment, "ExperimentDeletionRequested");
    }
    await this.#sweep(this.#pool);
    await expect("during the grace", lines, lines, lines);
    await this.#tell(kept, "ExperimentDeletionUndone");
    await this.#tell(gone, "ExperimentDeleted");
    await this.#sweep(mortal.pool(this.#pool)).catch((error: unknown) => {
      if (!mortal.isDead) throw error;
    });
    await this.#sweep(this.#pool);
    await expect("after the deletion", 0, lines, lines);
    await this.#write(gone, lines, late);
    await this.#sweep(this.#pool);
    await expect("after a late spool", 0, lines, lines);
    const text = "select removed_lines, bytes from logs.experiments where experiment = $1";
    const [row] = await this.#stage.sql<{ removed_lines: string; bytes: string }>(text, [gone]);
    if (Number(row?.removed_lines) !== lines + late || Number(row?.bytes) !== 0) {
      violations.push(`${row?.removed_lines} lines are counted, and ${row?.bytes} bytes are left`);
    }
    // Later lives must sweep only their experiments.
    await this.#stage.sql("update logs.experiments set gone = true");
    return violations;
  }

  async #write(experiment: string, from: number, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, n) => ({
      ...{ experiment, trial: `${experiment}.1`, run: 1, nodeRank: 0, sequence: from + n },
      ...{ atMs: 1_700_000_000_000 + n, source: LogSource.STDOUT, continued: false },
      ...{ text: `line ${n}`, rank: null, level: LogLevel.INFO },
    }));
    await new LineTable(this.#pool).insert(rows);
  }

  async #sweep(pool: pg.Pool): Promise<void> {
    const retention = new Retention({
      lives: logLives(pool, this.#log),
      kept: new RetentionTable(pool, linesMax),
      clock: systemClock,
      logger: createLogger("logs", "silent"),
      settings: { retentionDays: -1, retentionBytes: null },
      hold: { reason: async () => null },
    });
    await retention.sweep(new AbortController().signal);
  }

  async #count(experiment: string): Promise<number> {
    const text = "select count(*) as lines from logs.lines where experiment = $1";
    const [row] = await this.#stage.sql<{ lines: string }>(text, [experiment]);
    return Number(row?.lines);
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
  await using stage = await DatabaseStage.start("logs", {});
  const connectionString = stage.variables["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString });
  const pool = new pg.Pool({ connectionString, max: 4 });
  pool.on("error", () => {}); // Connections of a dead process are destroyed.
  try {
    await migrate(pool, "logs", migrations);
    const lives = new Lives(stage, pool, log);
    return await strikeEach((mortal) => lives.live(mortal));
  } finally {
    await pool.end();
  }
}
