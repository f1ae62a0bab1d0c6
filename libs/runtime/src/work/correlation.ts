/** Derives the context of an event: its experiment, and the correlation that its causes began. */
import type { CommitMeta, SomeStreams, StoredEvent } from "@trainyard/event-log";

/**
 * Returns 12 for experiment-12, trial-12.3, logsignal-12.3, allocation-12.3#2, search-12; t12 for task-t12 and
 * allocation-t12#2; otherwise the stream.
 */
export function experimentKey(event: { readonly stream: string }): string {
  const match =
    /^(?:experiment|trial|task|search|allocation|measurement|logsignal)-(t?[0-9]+)/.exec(
      event.stream,
    );
  return match?.[1] ?? event.stream;
}

/** Returns the streams whose `experimentKey` is this experiment. */
export function streamsOfExperiment(experiment: string): SomeStreams {
  const ofRuns = ["trial", "allocation", "measurement", "logsignal"];
  return {
    names: ["experiment", "search"].map((category) => `${category}-${experiment}`),
    beginnings: ofRuns.map((category) => `${category}-${experiment}.`),
  };
}

export const emptyMeta: CommitMeta = {
  source: "",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

/** Returns the metadata of a service's commit; without fields, of a commit without a cause outside the service. */
export function serviceMeta(service: string, fields: Partial<CommitMeta> = {}): CommitMeta {
  return { ...emptyMeta, source: `/trainyard/${service}`, ...fields };
}

/** Returns the metadata of an event's effect: correlation, workspace and trace continue. */
export function reactionMeta(
  service: string,
  event: StoredEvent,
  traceparent = event.meta.traceparent,
): CommitMeta {
  const { workspace, correlationid, authid } = event.meta;
  const causationid = event.id;
  return serviceMeta(service, { workspace, correlationid, causationid, authid, traceparent });
}

type Look = { readonly handled: boolean; readonly stops: boolean };

/**
 * Returns the events from `at` on that one commit may process: they share correlation, workspace and cause, so that
 * their effects do too. Events without a handler may be in between. The last returned event has a handler.
 */
export function correlatedEvents(
  events: readonly StoredEvent[],
  at: number,
  handledMax: number,
  look: (event: StoredEvent) => Look,
): readonly StoredEvent[] {
  let first: CommitMeta | null = null;
  let handled = 0;
  let end = at;
  for (let i = at; i < events.length && handled < handledMax; i += 1) {
    const event = events[i] as StoredEvent;
    const { handled: isHandled, stops } = look(event);
    if (!isHandled) continue;
    first ??= event.meta;
    if (stops || !isCorrelated(event.meta, first)) break;
    handled += 1;
    end = i + 1;
  }
  return events.slice(at, handled < 2 ? at : end);
}

function isCorrelated(a: CommitMeta, b: CommitMeta): boolean {
  return (
    a.correlationid === b.correlationid && a.workspace === b.workspace && a.authid === b.authid
  );
}
