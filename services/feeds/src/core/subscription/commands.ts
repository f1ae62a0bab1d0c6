import type { EventData } from "@trainyard/contracts";
import type { Reader, Settings } from "./state.ts";

export type SubscriptionCommand =
  | ({ readonly type: "Create"; readonly reader: Reader } & Pick<
      EventData<"SubscriptionCreated">,
      "delivery" | "after"
    > &
      Settings)
  | {
      readonly type: "Change";
      /** The new filter; absent: it stays. */
      readonly filter?: Settings["filter"];
      /** 0 for never; absent: it stays. */
      readonly expiresAfterMs?: number;
      readonly webhook?: Settings["webhook"];
      readonly destinationChanged: boolean;
    }
  | { readonly type: "Stop"; readonly tokenId: string; readonly reason: string }
  | { readonly type: "Adopt"; readonly reader: Reader }
  | { readonly type: "Disable"; readonly reason: string; readonly by: string }
  | { readonly type: "Enable"; readonly by: string }
  | { readonly type: "RotateSecret"; readonly oldUntilMs: number; readonly by: string }
  | { readonly type: "Delete"; readonly reason: string; readonly by: string }
  | ({ readonly type: "NoteQueueWait" } & EventData<"QueueWaitExceeded">);
