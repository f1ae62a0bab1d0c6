/** A subscription, as its stream says. URLs, secrets and acknowledged positions are rows. */
import type { EventData, EventOf } from "@trainyard/contracts";
import type { QueuePlace } from "../queue-place.ts";

export type SubscriptionEvent = EventOf<
  | "SubscriptionCreated"
  | "SubscriptionChanged"
  | "SubscriptionStopped"
  | "SubscriptionAdopted"
  | "SubscriptionDisabled"
  | "SubscriptionEnabled"
  | "SubscriptionSecretRotated"
  | "SubscriptionDeleted"
  | "QueueWaitExceeded"
>;

type Created = EventData<"SubscriptionCreated">;
export type Settings = Pick<Created, "filter" | "expiresAfterMs" | "webhook">;
export type Reader = NonNullable<Created["reader"]>;

export type SubscriptionState = {
  readonly isThere: boolean;
  readonly delivery: Created["delivery"];
  readonly settings: Settings;
  readonly reader: Reader | null;
  readonly isStopped: boolean;
  readonly isDisabled: boolean;
  /** The place in the queue of the last run whose long wait is recorded; null without one. */
  readonly lastWait: QueuePlace | null;
};
