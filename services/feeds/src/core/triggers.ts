/** The triggers of a webhook beside its filter, and the experiments that leave it out. */

/** The section integrations.webhooks of an experiment's configuration. */
export type NamedWebhooks = { readonly names: readonly string[]; readonly exclude: boolean };

type Triggering = {
  /** The type without prefix and version. */
  readonly name: string;
  readonly stored: { readonly stream: string };
  readonly data: Readonly<Record<string, unknown>>;
};

/**
 * Whether the event triggers the webhook of this name: a log line matched its pattern, or a run waits for too long.
 * Null for every other event, which the webhook's filter selects.
 */
export function triggers(webhook: string, event: Triggering): boolean | null {
  if (event.name === "LogPatternMatched") return event.data["subscription"] === webhook;
  if (event.name === "QueueWaitExceeded") return event.stored.stream === `subscription-${webhook}`;
  return null;
}

/**
 * Returns the experiment or task that an event is about. A long wait is about that of its run: its stream is the
 * webhook's.
 */
export function subjectOf(event: Triggering & { readonly experiment: string }): string {
  if (event.name !== "QueueWaitExceeded") return event.experiment;
  const [, id = ""] = /^(t?\d+)/.exec(String(event.data["run"])) ?? [];
  return id;
}

/**
 * Whether the experiment of an event lets a webhook have it. An experiment that excludes webhooks lets none; one that
 * names webhooks lets these; every other lets all that do not ask to be named.
 */
export function admits(webhook: string, namedOnly: boolean, named: NamedWebhooks | null): boolean {
  if (named?.exclude === true) return false;
  if (named !== null && named.names.length > 0) return named.names.includes(webhook);
  return !namedOnly;
}
