/** A model of checkpoint-gc's table: the same rows, folded from the log in memory. Nothing is validated. */
import { decodeEvent } from "@trainyard/contracts";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { idOf, parseTrialId } from "@trainyard/kernel";
import type { Index } from "@trainyard/service-checkpoint-gc/index-view";

type Row = {
  readonly experiment: string;
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  retention: "kept" | "condemned" | "deleting" | "deleted";
  graceEndMs: number;
};

const retryFirstMs = 1_000;
const retryLastMs = 10 * 60_000;

export class ModelIndex implements Index {
  readonly #log: MemoryLog;
  readonly #rows = new Map<string, Row>();
  readonly #retryMs = new Map<string, number>();
  readonly #tries = new Map<string, number>();
  readonly #onChange: (adopted: boolean) => void;
  #position = 0;
  readonly view = { reach: async () => this.level() };

  constructor(log: MemoryLog, onChange: (adopted: boolean) => void) {
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Folds the new events. */
  level(): void {
    const fresh = this.#log.store.events.slice(this.#position);
    this.#position += fresh.length;
    for (const stored of fresh) {
      const event = decodeEvent(stored);
      const id = idOf(stored.stream);
      if (event.type === "CheckpointCompleted") {
        const { trial, task = "", run, step } = event.data;
        const experiment = parseTrialId(trial)?.experiment ?? task;
        this.#rows.set(id, { experiment, trial, run, step, retention: "kept", graceEndMs: 0 });
      }
      if (event.type === "CheckpointCondemned") {
        this.#retain(id, "condemned", event.data.graceEndMs);
      }
      if (event.type === "CheckpointSpared") this.#retain(id, "kept");
      if (event.type === "CheckpointDeletionStarted") this.#retain(id, "deleting");
      if (event.type === "CheckpointDeleted") this.#retain(id, "deleted");
      if (event.type === "StorageAdopted") this.#onChange(true);
    }
  }

  #retain(id: string, retention: Row["retention"], graceEndMs = 0): void {
    const row = this.#rows.get(id);
    if (row !== undefined) Object.assign(row, { retention, graceEndMs });
    this.#onChange(false);
  }

  async candidates(experiment: string): ReturnType<Index["candidates"]> {
    return [...this.#rows].flatMap(([checkpoint, row]) => {
      const isThere = row.retention === "kept" || row.retention === "condemned";
      if (row.experiment !== experiment || !isThere) return [];
      const { trial, run, step } = row;
      return [{ checkpoint, trial, run, step, value: null }];
    });
  }

  async saves(task: string): ReturnType<Index["saves"]> {
    return (await this.candidates(task)).map((save) => ({ ...save, trial: task }));
  }

  async kept(experiment: string): Promise<readonly string[]> {
    return [...this.#rows].flatMap(([checkpoint, row]) =>
      row.experiment === experiment && row.retention === "kept" ? [checkpoint] : [],
    );
  }

  async referrers(): Promise<readonly string[]> {
    return [];
  }

  async due(nowMs: number): Promise<readonly string[]> {
    return this.#in("condemned", nowMs);
  }

  async deleting(nowMs: number): Promise<readonly string[]> {
    return this.#in("deleting", nowMs);
  }

  /** No part of a checkpoint is deleted in this model. */
  async thinning(): Promise<readonly string[]> {
    return [];
  }

  /** No experiment is deleted in this model. */
  async tensorboards(): Promise<readonly string[]> {
    return [];
  }

  async forgetTensorboard(): Promise<void> {}

  /** No run ends in this model. */
  async overdue(): Promise<readonly string[]> {
    return [];
  }

  async forgetOverdue(): Promise<void> {}

  async anyOf(): Promise<null> {
    return null;
  }

  #in(retention: Row["retention"], nowMs: number): readonly string[] {
    return [...this.#rows].flatMap(([id, row]) => {
      const dueMs = Math.max(row.graceEndMs, this.#retryMs.get(id) ?? 0);
      return row.retention === retention && dueMs <= nowMs ? [id] : [];
    });
  }

  async nextDueMs(): Promise<number | null> {
    const due = [...this.#rows].flatMap(([id, { retention, graceEndMs }]) => {
      const isToDo = retention === "condemned" || retention === "deleting";
      return isToDo ? [Math.max(graceEndMs, this.#retryMs.get(id) ?? 0)] : [];
    });
    return due.length === 0 ? null : Math.min(...due);
  }

  async putOff(checkpoint: string, nowMs: number): Promise<void> {
    const tries = (this.#tries.get(checkpoint) ?? 0) + 1;
    this.#tries.set(checkpoint, tries);
    this.#retryMs.set(checkpoint, nowMs + Math.min(retryFirstMs * 2 ** (tries - 1), retryLastMs));
  }

  async forgetRetries(checkpoint: string | null): Promise<void> {
    const forgotten = checkpoint === null ? [...this.#tries.keys()] : [checkpoint];
    for (const one of forgotten) {
      this.#tries.delete(one);
      this.#retryMs.delete(one);
    }
  }
}
