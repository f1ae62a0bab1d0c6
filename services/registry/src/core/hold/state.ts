/** The hold on deletions: a log that went back begins it, a person ends it. Another rewind meanwhile adds nothing. */
import type { EventData, EventOf } from "@trainyard/contracts";

export type HoldEvent = EventOf<"DeletionsHeld" | "DeletionsReleased">;

export type HoldState = "free" | "held";

export type HoldCommand =
  | { readonly kind: "hold"; readonly rewind: EventData<"DeletionsHeld"> }
  | { readonly kind: "release"; readonly by: string; readonly reason: string };
