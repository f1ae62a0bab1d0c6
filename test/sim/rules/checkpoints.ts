import type { AnyEvent } from "@trainyard/contracts";

/**
 * Tracks which checkpoints are complete, which of them are damaged, and which checkpoint-gc intends to keep, at this
 * point of the log.
 */
export class CheckpointRules {
  readonly #complete = new Set<string>();
  readonly #over = new Set<string>();
  readonly #condemned = new Set<string>();
  readonly #damaged = new Set<string>();

  see(id: string, event: AnyEvent): void {
    if (event.type === "CheckpointCompleted") this.#complete.add(id);
    if (event.type === "CheckpointFailed" || event.type === "CheckpointAbandoned") {
      this.#over.add(id);
    }
    if (event.type === "CheckpointCondemned") this.#condemned.add(id);
    if (event.type === "CheckpointSpared") this.#condemned.delete(id);
    if (event.type === "CheckpointDamaged") this.#damaged.add(id);
    if (event.type === "CheckpointRepaired") this.#damaged.delete(id);
  }

  isSettled(id: string): boolean {
    return this.#complete.has(id) || this.#over.has(id);
  }

  isUsable(id: string): boolean {
    return this.#complete.has(id) && !this.#condemned.has(id) && !this.#damaged.has(id);
  }

  isDamaged(id: string): boolean {
    return this.#damaged.has(id);
  }
}
