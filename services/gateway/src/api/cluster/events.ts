import type { JsonObject } from "@bufbuild/protobuf";
import { type Plain, shortNameOf } from "@trainyard/contracts";
import type { Event } from "@trainyard/contracts/api";
import type { StoredEvent } from "@trainyard/event-log";
import { maskedDocument } from "@trainyard/experiment-config";

/**
 * Returns a stored event in the form of the API, with the secrets of a configuration masked. The log has them unmasked.
 */
export function shownEvent(event: StoredEvent): Plain<Event> {
  const { source, correlationid, causationid, authid, workspace, traceparent } = event.meta;
  return {
    id: event.id,
    source,
    type: event.type,
    subject: event.stream,
    timeMs: event.timeMs,
    sequence: String(event.position),
    correlationid,
    causationid,
    authid,
    workspace,
    traceparent,
    data: withoutSecrets(shortNameOf(event.type), JSON.parse(event.body) as JsonObject),
    version: event.version,
  };
}

/** The events with a configuration. */
const withConfig: ReadonlySet<string> = new Set(["ExperimentCreated", "TaskCreated"]);

function withoutSecrets(name: string, data: JsonObject): JsonObject {
  const { config } = data;
  if (!withConfig.has(name) || config === undefined) return data;
  return { ...data, config: maskedDocument(config as JsonObject) };
}
