import type { AnyEvent } from "@trainyard/contracts";

/** Tracks which checkpoints are complete, and which of them checkpoint-gc intends to keep, at this point of the log. */
export class CheckpointRules {
  readonly #complete = new Set<string>();
  readonly #over = new Set<string>();
  readonly #condemned = new Set<string>();

  see(id: string, event: AnyEvent): void {
    if (event.type === "CheckpointCompleted") this.#complete.add(id);
    if (event.type === "CheckpointFailed" || event.type === "CheckpointAbandoned") {
      this.#over.add(id);
    }
    if (event.type === "CheckpointCondemned") this.#condemned.add(id);
    if (event.type === "CheckpointSpared") this.#condemned.delete(id);
  }

  isSettled(id: string): boolean {
    return this.#complete.has(id) || this.#over.has(id);
  }

  isUsable(id: string): boolean {
    return this.#complete.has(id) && !this.#condemned.has(id);
  }
}
