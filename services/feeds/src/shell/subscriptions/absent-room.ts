/** A kind of delivery that this build does not have. */
import { reject } from "@trainyard/kernel";
import type { DeliveryRoom } from "./delivery-room.ts";

export function absentRoom(kind: string): DeliveryRoom {
  return {
    open: () => Promise.reject(new Error(`the delivery ${kind} is not there`)),
    prepare: async () => reject("no_such_delivery", `the delivery ${kind} is not there`),
    change: async () => undefined,
    remove: async () => {},
    facts: async () => new Map(),
  };
}
