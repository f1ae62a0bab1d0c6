/**
 * A model of checkpoint-gc that deletes more than the real one: it condemns any complete checkpoint that no unended run
 * was requested from, whatever the policy, and spares or deletes it later. Like the real one it guards the trial's
 * stream. It also models verifications by the registry that find a checkpoint damaged, or repaired.
 */
import { decodeEvent } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { idOf } from "@trainyard/kernel";
import type { ManualClock } from "@trainyard/testing";
import type { Chance } from "./chance.ts";
import type { Teller } from "./teller.ts";

export type RetentionDeps = {
  readonly clock: ManualClock;
  readonly chance: Chance;
  readonly teller: Teller;
  readonly log: MemoryLog;
};

export class ModelRetention {
  readonly #deps: RetentionDeps;
  #position = 0;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  see(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      if (stored.position <= this.#position) continue;
      this.#position = stored.position;
      if (!stored.stream.startsWith("checkpoint-")) continue;
      const event = decodeEvent(stored);
      if (event.type === "CheckpointCompleted") {
        const { trial, task } = event.data;
        const owner = task === undefined ? `trial-${trial}` : `task-${task}`;
        this.#consider(idOf(stored.stream), owner);
      }
    }
  }

  /** After a rewind, remaining checkpoints stay known, and lost ones are not deleted. */
  rewound(): void {
    this.#position = this.#deps.log.store.head;
  }

  /** `owner` is the stream of the trial or the task. */
  #consider(checkpoint: string, owner: string): void {
    const { clock, chance } = this.#deps;
    if (chance.happens(0.1)) {
      clock.timer(chance.between(0, 8_000), () => void this.#damage(checkpoint));
    }
    if (!chance.happens(0.3)) return;
    clock.timer(chance.between(0, 4_000), () => void this.#condemn(checkpoint, owner));
  }

  /** The registry finds the checkpoint damaged, and may later find it intact again. */
  async #damage(checkpoint: string): Promise<void> {
    const { clock, chance, teller, log } = this.#deps;
    const stream = `checkpoint-${checkpoint}`;
    const isKnown = () => log.store.version(stream) > 0;
    if (!isKnown()) return;
    const data = { problems: [], count: 1, by: "" };
    await teller.tell(stream, [{ type: "CheckpointDamaged", data }]);
    if (!chance.happens(0.3)) return;
    clock.timer(chance.between(100, 4_000), () => {
      if (isKnown()) void teller.tell(stream, [{ type: "CheckpointRepaired", data: { by: "" } }]);
    });
  }

  async #condemn(checkpoint: string, owner: string): Promise<void> {
    const { clock, chance, teller, log } = this.#deps;
    if (log.store.version(`checkpoint-${checkpoint}`) === 0) return;
    const guards = this.#guards(owner);
    if (this.#isReferred(checkpoint, owner)) return;
    const condemned = await teller.tell(
      `retention-${checkpoint}`,
      [
        {
          type: "CheckpointCondemned",
          data: {
            competitors: [],
            referencesChecked: [],
            graceEndMs: 0,
            experiment: "",
            by: "",
            reason: "",
          },
        },
      ],
      guards,
    );
    if (condemned)
      clock.timer(chance.between(100, 4_000), () => void this.#decide(checkpoint, owner));
  }

  async #decide(checkpoint: string, owner: string): Promise<void> {
    const { chance, teller, log } = this.#deps;
    const stream = `retention-${checkpoint}`;
    if (log.store.version(stream) === 0) return;
    const guards = this.#guards(owner);
    if (this.#isReferred(checkpoint, owner) || chance.happens(0.4)) {
      await teller.tell(stream, [{ type: "CheckpointSpared", data: { reason: "" } }]);
      return;
    }
    await teller.tell(
      stream,
      [
        { type: "CheckpointDeletionStarted", data: {} },
        { type: "CheckpointDeleted", data: { files: 1, bytes: 1 } },
      ],
      guards,
    );
  }

  #guards(owner: string): Record<string, number> {
    return { [owner]: this.#deps.log.store.version(owner) };
  }

  #isReferred(checkpoint: string, owner: string): boolean {
    let from = "";
    for (const stored of this.#deps.log.store.stream(owner)) {
      const event = decodeEvent(stored);
      if (event.type === "RunRequested") from = event.data.fromCheckpoint;
      if (event.type === "RunEnded") from = "";
    }
    return from === checkpoint;
  }
}
