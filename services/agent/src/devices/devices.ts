/** The port to the devices of a host: one adapter for each program that lists them. */
import type { Plain } from "@trainyard/contracts";
import type { Slot } from "@trainyard/contracts/events";

export type Device = {
  readonly slot: Plain<Slot>;
  /** The number that the program assigns to the device. It may change when another device disappears. */
  readonly index: number;
  /** The reason why no run may get the device, as a sentence without a full stop; null for a healthy device. */
  readonly problem: string | null;
};

/** A process that computes on a device. */
export type SeenProcess = { readonly uuid: string; readonly pid: number };

export type DeviceProbe =
  /** The program is not installed. */
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly problem: string }
  | {
      readonly kind: "seen";
      readonly devices: readonly Device[];
      /** Empty if the program does not list them. */
      readonly processes: readonly SeenProcess[];
      /** Sentences for the agent's log. */
      readonly problems: readonly string[];
    };

/**
 * The devices of one kind. `look` never throws, and returns within the time limit of its program, or soon after the
 * signal aborts. The slot of a device has the same id in every call: the device's UUID if it has one, because numbers
 * shift when a device disappears.
 */
export interface Devices {
  /** The name of the program, for messages. */
  readonly program: string;
  look(signal: AbortSignal): Promise<DeviceProbe>;
}
