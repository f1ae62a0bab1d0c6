/** A sink that keeps what it is given, by the name of the subscription. */
import type { DeliveryRoom } from "../shell/dispatch/delivery-room.ts";

export class MemorySink {
  /** The positions of the events, by subscription, in the order of their arrival. */
  readonly positions = new Map<string, number[]>();
  readonly texts: string[] = [];
  readonly removed: string[] = [];
  readonly prepared: string[] = [];
  /** A removal ends after this. */
  removal: Promise<void> = Promise.resolve();
  /** The number of pages after which the sink fails; null for never. */
  failsAfter: number | null = null;
  /** Whether places are settled, as after an acknowledgement. */
  settles = true;

  get room(): DeliveryRoom {
    return {
      open: async ({ name, settled }) => ({
        take: async ({ events, upTo }) => {
          if (this.failsAfter !== null) {
            this.failsAfter -= 1;
            if (this.failsAfter < 0) {
              this.failsAfter = null;
              throw new Error("the receiver is away");
            }
          }
          const known = this.positions.get(name) ?? [];
          this.positions.set(name, [...known, ...events.map(({ stored }) => stored.position)]);
          this.texts.push(...events.map(({ text }) => text));
          if (this.settles) settled(upTo);
        },
        [Symbol.asyncDispose]: async () => {},
      }),
      prepare: async ({ name }) => {
        this.prepared.push(name);
        return { secret: "s3cret" };
      },
      change: async () => undefined,
      remove: async (name) => {
        this.removed.push(name);
        await this.removal;
      },
      facts: async () => new Map(),
    };
  }

  of(name: string): readonly number[] {
    return this.positions.get(name) ?? [];
  }
}
