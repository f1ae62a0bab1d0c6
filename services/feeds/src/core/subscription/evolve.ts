import { SubscriptionDelivery } from "@trainyard/contracts/events";
import type { SubscriptionEvent, SubscriptionState } from "./state.ts";

export const noSubscription: SubscriptionState = {
  isThere: false,
  delivery: SubscriptionDelivery.UNSPECIFIED,
  settings: {},
  reader: null,
  isStopped: false,
  isDisabled: false,
  lastWait: null,
};

export function evolve(state: SubscriptionState, event: SubscriptionEvent): SubscriptionState {
  switch (event.type) {
    case "SubscriptionCreated": {
      const { delivery, reader = null, ...settings } = event.data;
      return { ...noSubscription, isThere: true, delivery, reader, settings };
    }
    case "SubscriptionChanged": {
      const { destinationChanged: _changed, ...settings } = event.data;
      return { ...state, settings };
    }
    case "SubscriptionStopped":
      return { ...state, isStopped: true };
    case "SubscriptionAdopted":
      return { ...state, isStopped: false, reader: event.data.reader ?? state.reader };
    case "SubscriptionDisabled":
      return { ...state, isDisabled: true };
    case "SubscriptionEnabled":
      return { ...state, isDisabled: false };
    case "SubscriptionSecretRotated":
      return state;
    case "SubscriptionDeleted":
      return noSubscription;
    case "QueueWaitExceeded": {
      const { queuedAtMs, run } = event.data;
      return { ...state, lastWait: { queuedAtMs, run } };
    }
  }
}
