/** The pattern of a webhook, as the stream of its subscription says. */
import type { AnyEvent, EventData } from "@trainyard/contracts";

export type WebhookPattern = {
  /** Empty without one. */
  readonly pattern: string;
  /** The only experiment whose lines count; empty for all. */
  readonly experiment: string;
  /** Why nothing is delivered. */
  readonly isStopped: boolean;
  readonly isDisabled: boolean;
};

export const noPattern: WebhookPattern = {
  pattern: "",
  experiment: "",
  isStopped: false,
  isDisabled: false,
};

export function evolvePattern(state: WebhookPattern, event: AnyEvent): WebhookPattern {
  switch (event.type) {
    case "SubscriptionCreated":
      return { ...noPattern, ...settingsOf(event.data) };
    case "SubscriptionChanged":
      return { ...state, ...settingsOf(event.data) };
    case "SubscriptionStopped":
      return { ...state, isStopped: true };
    case "SubscriptionAdopted":
      return { ...state, isStopped: false };
    case "SubscriptionDisabled":
      return { ...state, isDisabled: true };
    case "SubscriptionEnabled":
      return { ...state, isDisabled: false };
    case "SubscriptionDeleted":
      return noPattern;
    default:
      return state;
  }
}

/** Whether the lines of an experiment or task are compared with the pattern. */
export function isSought(
  { pattern, experiment, isStopped, isDisabled }: WebhookPattern,
  id: string,
): boolean {
  const isActive = pattern !== "" && !isStopped && !isDisabled;
  return isActive && (experiment === "" || experiment === id);
}

const settingsOf = ({
  webhook,
  filter,
}: Pick<EventData<"SubscriptionCreated">, "webhook" | "filter">) => ({
  pattern: webhook?.logPattern ?? "",
  experiment: filter?.experiment ?? "",
});
