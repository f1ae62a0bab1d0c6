import type { Offer } from "../offer.ts";

/** An offer of this many slots, "0", "1" and so on, without devices and labels. */
export function exampleOffer(size: number): Offer {
  const slots = Array.from({ length: size }, (_, n) => ({
    id: String(n),
    device: "",
    memoryBytes: 0,
  }));
  return { slots, labels: {} };
}
