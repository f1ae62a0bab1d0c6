/**
 * The patterns of webhooks, folded from the streams of subscriptions: those that the log has when following begins, and
 * then each event. They are few, so every replica has them in memory.
 */
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import { runtimeLimits } from "@trainyard/runtime";
import {
  evolvePattern,
  isSought,
  noPattern,
  type WebhookPattern,
} from "../core/webhook-pattern.ts";

export type SoughtPattern = { readonly webhook: string; readonly pattern: string };

export class WebhookPatterns {
  readonly #log: EventLog;
  readonly #patterns = new Map<string, WebhookPattern>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Reads all subscriptions up to a position. */
  async read(position: number): Promise<void> {
    this.#patterns.clear();
    const streams = { names: [], beginnings: ["subscription-"] };
    const found = await this.#log.positionsOf(streams, 0);
    const positions = found.filter((one) => one <= position);
    // A page may have fewer events than positions: it ends by bytes, too.
    for (let at = 0; at < positions.length; ) {
      const page = await this.#log.readAt(positions.slice(at, at + runtimeLimits.pageEvents));
      if (page.length === 0) return;
      for (const stored of page) this.observe(stored);
      at += page.length;
    }
  }

  observe(stored: StoredEvent): void {
    if (categoryOf(stored.stream) !== "subscription") return;
    const webhook = idOf(stored.stream);
    const pattern = evolvePattern(this.#patterns.get(webhook) ?? noPattern, decodeEvent(stored));
    if (pattern === noPattern) this.#patterns.delete(webhook);
    else this.#patterns.set(webhook, pattern);
  }

  /** Compares no more lines with an invalid pattern, until it changes. */
  turnOff(webhook: string): void {
    const known = this.#patterns.get(webhook);
    if (known !== undefined) this.#patterns.set(webhook, { ...known, pattern: "" });
  }

  /** Returns the patterns with which the lines of an experiment or task are compared. */
  of(experiment: string): readonly SoughtPattern[] {
    return [...this.#patterns].flatMap(([webhook, one]) =>
      isSought(one, experiment) ? [{ webhook, pattern: one.pattern }] : [],
    );
  }
}
