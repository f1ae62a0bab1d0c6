/**
 * The checkpoints that were never completed, as rows: folded from the checkpoints' own streams and those of their
 * trials and tasks.
 *
 *   declared → named → run_over → void
 *
 * A declared checkpoint whose run ends is over, unless the run's end names it, or the platform lost the run: the agent
 * may still come back and name it. A named checkpoint may be undeclared. A later run ends all checkpoints of earlier
 * runs, and the deletion of a task all of its own. An uploaded folder has no run: it is named from the beginning.
 */
import type { AnyEvent, Plain } from "@trainyard/contracts";
import { RunEndWhy, type SealedCheckpoint } from "@trainyard/contracts/events";
import { makerOf } from "../core/maker.ts";

/** At least the number of every run: the largest value of the column. */
const anyRun = 2 ** 31 - 1;

export type Change = { readonly text: string; readonly values: unknown[] };

/** An event of the stream with this id, and the time at which it was recorded. */
export type RecordedEvent = {
  readonly event: AnyEvent;
  readonly id: string;
  readonly timeMs: number;
};

/** Applying an event twice changes nothing, except that a cleared checkpoint may be cleared again. */
export function changesOf({ event, id, timeMs }: RecordedEvent, table: string): readonly Change[] {
  switch (event.type) {
    case "CheckpointDeclared": {
      const { run, step, storage, uploadedBy } = event.data;
      const [state, sinceMs] = uploadedBy === undefined ? ["declared", timeMs] : ["named", timeMs];
      return [
        {
          text: `insert into ${table} as row (checkpoint, maker, run, step, storage, state, since_ms)
                 values ($1, $2, $3, $4, $5, $6, $7)
                 on conflict (checkpoint) do update set storage = excluded.storage
                 where row.storage is null and row.maker = excluded.maker and row.run = excluded.run`,
          values: [
            id,
            makerOf(event.data),
            run,
            step,
            JSON.stringify(storage ?? {}),
            state,
            sinceMs,
          ],
        },
      ];
    }
    case "CheckpointCompleted":
      return [{ text: `delete from ${table} where checkpoint = $1`, values: [id] }];
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return [
        {
          text: `update ${table} set state = 'void', since_ms = $2 where checkpoint = $1`,
          values: [id, timeMs],
        },
      ];
    case "RunEnded": {
      const { run, why, sealed } = event.data;
      const named = (sealed?.checkpoints ?? []).map((one) => name(table, id, run, one, timeMs));
      const state = why === RunEndWhy.LOST ? "named" : "run_over";
      return [...named, leave(table, id, run, ["declared"], state, timeMs)];
    }
    case "RunCheckpointsNamed": {
      const { run, checkpoints } = event.data;
      return checkpoints.map((one) => name(table, id, run, one, timeMs));
    }
    case "RunRequested":
      // The first run has no earlier runs.
      if (event.data.run === 1) return [];
      return [leave(table, id, event.data.run - 1, ["declared", "named"], "run_over", timeMs)];
    case "TaskDeleted":
      return [leave(table, id, anyRun, ["declared", "named"], "run_over", timeMs)];
    default:
      return [];
  }
}

function name(
  table: string,
  maker: string,
  run: number,
  { checkpoint, step }: Plain<SealedCheckpoint>,
  timeMs: number,
): Change {
  return {
    text: `insert into ${table} as row (checkpoint, maker, run, step, state, since_ms)
           values ($1, $2, $3, $4, 'named', $5)
           on conflict (checkpoint) do update set state = 'named', since_ms = excluded.since_ms
           where row.state = 'declared' and row.maker = excluded.maker and row.run = excluded.run`,
    values: [checkpoint, maker, run, step, timeMs],
  };
}

/** The checkpoints in these states that the runs of a trial or task up to this one have left. */
function leave(
  table: string,
  maker: string,
  run: number,
  from: readonly string[],
  to: string,
  timeMs: number,
): Change {
  return {
    text: `update ${table} set state = $3, since_ms = $4
           where maker = $1 and run <= $2 and state = any($5)`,
    values: [maker, run, to, timeMs, from],
  };
}
