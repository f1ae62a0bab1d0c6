/** The form in which a webhook receives events. */
import type { LeavingEvent } from "@trainyard/outbound";
import type { OutgoingRequest } from "./send/sender.ts";

export type Signing = {
  /** The secrets that sign, the newest first. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
};

export type WebhookFormat = {
  /** Writes and signs an event. */
  readonly requestOf: (
    event: LeavingEvent,
    signing: Signing,
  ) => Pick<OutgoingRequest, "headers" | "body">;
  /** Returns why a secret cannot sign, in one sentence; null if it can. */
  readonly checkSecret: (secret: string) => string | null;
  readonly newSecret: () => string;
};

export type WebhookFormats = Readonly<Record<string, WebhookFormat>>;
