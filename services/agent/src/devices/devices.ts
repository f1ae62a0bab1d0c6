/** The port to the devices of a host: one adapter for each program that lists them. */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";

export type Device = {
  readonly slot: Plain<Slot>;
  /** The number that its program gives it. It may change when another device leaves. */
  readonly index: number;
  /** Why no run may get it, as a sentence without its end; null for a healthy device. */
  readonly problem: string | null;
};

export type Look =
  /** The program is not installed. */
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly problem: string }
  | {
      readonly kind: "seen";
      readonly devices: readonly Device[];
      /** Sentences for the agent's log. */
      readonly problems: readonly string[];
    };

/**
 * The devices of one kind. `look` never throws, and returns within the time limit of its program, or soon after the
 * signal aborts. The slot of a device has the same id at every look: it is the device's UUID where it has one, because
 * numbers move when a device leaves.
 */
export interface Devices {
  /** The name of the program, for messages. */
  readonly program: string;
  look(signal: AbortSignal): Promise<Look>;
}
