/** The changes of the index's rows by an event. They are idempotent: a replay in order ends in the same rows. */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf, parseReportKey, parseRunId, parseTrialId } from "@trainyard/kernel";
import type { TableNames } from "@trainyard/runtime";
import { type IndexFact, indexFacts } from "../core/index-facts.ts";

export type Change = { readonly text: string; readonly values: unknown[] };

export function changesOf(stored: StoredEvent, table: TableNames): readonly Change[] {
  const [event, id] = [decodeEvent(stored), idOf(stored.stream)];
  const change = changeOf(event, id, stored, table);
  const facts = indexFacts(event, id).flatMap((fact) => changesByFact(fact, stored, table));
  const due = leftOf(event).map((name) => leftBy(id, table(name)));
  return [...(change === null ? [] : [change]), ...due, ...facts];
}

function changeOf(
  event: AnyEvent,
  id: string,
  stored: StoredEvent,
  table: TableNames,
): Change | null {
  switch (event.type) {
    case "CheckpointCompleted": {
      const { trial, task, run, step } = event.data;
      // An uploaded folder belongs to no experiment and is not ranked.
      const experiment = trial === "" ? (task ?? "") : parseTrialId(trial)?.experiment;
      if (experiment === undefined) return null;
      return {
        text: `insert into ${table("checkpoints")}
               (checkpoint, experiment, trial, run, step, position, retention, grace_end_ms)
               values ($1, $2, $3, $4, $5, $6, 'kept', 0) on conflict do nothing`,
        values: [id, experiment, trial, run, step, stored.position],
      };
    }
    case "CheckpointCondemned":
      return retention(table, id, "condemned", event.data.graceEndMs, event.data.by !== "");
    case "CheckpointSpared":
      return retention(table, id, "kept", 0);
    case "CheckpointDeletionStarted":
      return retention(table, id, "deleting", 0);
    case "CheckpointDeleted":
      return retention(table, id, "deleted", 0);
    case "CheckpointFilesDeletionStarted":
      return set(table, id, "files", "thinning");
    case "CheckpointFilesDeleted":
      return set(table, id, "files", "thinned");
    case "CheckpointDamaged":
      return set(table, id, "damaged", "true");
    case "CheckpointRepaired":
      return set(table, id, "damaged", "false");
    case "ValidationReported": {
      const { run, step, scalars } = event.data;
      const finite = Object.entries(scalars).filter(([, value]) => Number.isFinite(value));
      return {
        text: `insert into ${table("validations")} (trial, step, run, position, scalars)
               values ($1, $2, $3, $4, $5) on conflict do nothing`,
        values: [id, step, run, stored.position, JSON.stringify(Object.fromEntries(finite))],
      };
    }
    default:
      return null;
  }
}

/** Returns the tables whose rows ask for the deletion of what is left of a deleted experiment or task. */
function leftOf({ type }: AnyEvent): readonly string[] {
  if (type === "TaskDeleted") return ["leftovers"];
  return type === "ExperimentDeleted" ? ["tensorboards", "leftovers"] : [];
}

function leftBy(owner: string, table: string): Change {
  const text = `insert into ${table} (experiment) values ($1) on conflict do nothing`;
  return { text, values: [owner] };
}

function changesByFact(
  fact: IndexFact,
  { position, timeMs }: StoredEvent,
  table: TableNames,
): readonly Change[] {
  switch (fact.kind) {
    case "declared": {
      const { checkpoint, trial, run, step, lastValidation } = fact;
      const { nodeRank, number } = parseReportKey(lastValidation) ?? { nodeRank: 0, number: 0 };
      const text = `insert into ${table("declarations")}
                    (checkpoint, trial, run, position, step, node_rank, number)
                    values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`;
      return [{ text, values: [checkpoint, trial, run, position, step, nodeRank, number] }];
    }
    case "arrived": {
      const { trial, run, key } = fact;
      const text = `insert into ${table("arrived")} as a (trial, run, node_rank, number)
                    values ($1, $2, $3, $4) on conflict (trial, run, node_rank)
                    do update set number = greatest(a.number, excluded.number)`;
      return [{ text, values: [trial, run, key.nodeRank, key.number] }];
    }
    case "run_ended": {
      const { trial, run, lastValidation } = fact;
      const text = `insert into ${table("run_ends")} as e (trial, run, last_validation, ended_ms)
                    values ($1, $2, $3, $4) on conflict (trial, run)
                    do update set last_validation = coalesce(excluded.last_validation, e.last_validation)`;
      const overdue = `insert into ${table("overdue")} (trial, run, experiment, ended_ms)
                       values ($1, $2, $3, $4) on conflict do nothing`;
      const experiment = parseTrialId(trial)?.experiment ?? "";
      return [
        { text, values: [trial, run, lastValidation, timeMs] },
        { text: overdue, values: [trial, run, experiment, timeMs] },
      ];
    }
    case "refers": {
      const text = `insert into ${table("referrers")} (checkpoint, trial) values ($1, $2)
                    on conflict (checkpoint, trial) do update set resting = false`;
      return [{ text, values: [fact.checkpoint, fact.referrer] }];
    }
    case "references_rest":
    case "references_count": {
      const text = `update ${table("referrers")} set resting = $2 where trial = $1`;
      return [{ text, values: [fact.referrer, fact.kind === "references_rest"] }];
    }
    case "references_end": {
      const text = `delete from ${table("referrers")} where trial = $1`;
      return [{ text, values: [fact.referrer] }];
    }
  }
}

function retention(
  table: TableNames,
  checkpoint: string,
  state: string,
  graceEndMs: number,
  manual = false,
): Change {
  return {
    text: `update ${table("checkpoints")} set retention = $2, grace_end_ms = $3, manual = $4
           where checkpoint = $1`,
    values: [checkpoint, state, graceEndMs, manual],
  };
}

function set(
  table: TableNames,
  checkpoint: string,
  column: "files" | "damaged",
  value: string,
): Change {
  return {
    text: `update ${table("checkpoints")} set ${column} = '${value}' where checkpoint = $1`,
    values: [checkpoint],
  };
}

/** Returns the experiments whose judgement an event may change. */
export function experimentsOf(stored: StoredEvent): readonly string[] {
  const event = decodeEvent(stored);
  switch (event.type) {
    case "ValidationReported":
      return experimentOf(idOf(stored.stream));
    case "CheckpointCompleted":
      return experimentOf(event.data.trial);
    case "AllocationEnded":
      return experimentOf(parseRunId(idOf(stored.stream))?.trial ?? "");
    case "AgentReturned":
      return (event.data.left?.runs ?? []).flatMap(({ allocation }) =>
        experimentOf(parseRunId(allocation)?.trial ?? ""),
      );
    default:
      return [];
  }
}

function experimentOf(trial: string): readonly string[] {
  const experiment = parseTrialId(trial)?.experiment;
  return experiment === undefined ? [] : [experiment];
}
