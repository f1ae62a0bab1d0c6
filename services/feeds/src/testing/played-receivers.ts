/** Receivers of webhooks in memory, by URL, and a plain format that shows with which secrets an event was signed. */
import { randomBytes } from "node:crypto";
import type { WebhookFormats } from "../shell/webhooks/format.ts";
import type { Answer, OutgoingRequest } from "../shell/webhooks/send/sender.ts";
import type { Outgoing } from "../shell/webhooks/webhooks.ts";

type Play = (
  request: OutgoingRequest,
  signal: AbortSignal,
) => Promise<Partial<Answer> | undefined | void> | Partial<Answer> | undefined | void;

/** Answers when the signal aborts, like a receiver that never does. */
export const never: Play = (_request, signal) =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve({ error: "it did not answer" }), { once: true });
  });

export const answers =
  (status: number): Play =>
  () => ({ status });

const plain: WebhookFormats[string] = {
  requestOf: ({ stored, text }, { secrets }) => ({
    headers: { "webhook-id": stored.id, "webhook-signature": secrets.join(" ") },
    body: text,
  }),
  checkSecret: (secret) => (secret.startsWith("whsec_") ? null : "a secret begins with whsec_"),
  newSecret: () => `whsec_${randomBytes(24).toString("base64")}`,
};

export class PlayedReceivers implements Outgoing {
  readonly formats: WebhookFormats = { standard: plain, slack: plain };
  readonly requests: OutgoingRequest[] = [];
  /** The most requests at a time, by URL. */
  readonly most = new Map<string, number>();
  readonly #plays = new Map<string, Play>();
  readonly #open = new Map<string, number>();

  /** Lets the receiver behind a URL answer so; by default every receiver answers 200. */
  plays(url: string, play: Play): void {
    this.#plays.set(url, play);
  }

  readonly checkUrl = (url: string): string | null =>
    url.startsWith("https://") ? null : "the URL of a webhook begins with https://";

  /** The ids of the events that a receiver got, in the order of their arrival. */
  idsAt(url: string): readonly string[] {
    return this.requests
      .filter((request) => request.url === url)
      .map(({ headers }) => headers["webhook-id"] ?? "");
  }

  readonly sender = {
    send: async (request: OutgoingRequest, signal: AbortSignal): Promise<Answer> => {
      const { url } = request;
      this.requests.push(request);
      const open = (this.#open.get(url) ?? 0) + 1;
      this.#open.set(url, open);
      this.most.set(url, Math.max(open, this.most.get(url) ?? 0));
      const play = this.#plays.get(url) ?? answers(200);
      try {
        const played = await play(request, signal);
        return { tookMs: 1, error: "", answer: "", isPrivate: false, ...played };
      } finally {
        this.#open.set(url, (this.#open.get(url) ?? 0) - 1);
      }
    },
  };
}
