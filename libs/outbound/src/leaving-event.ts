/**
 * An event on its way out of the platform, in its one form: CloudEvents 1.0 with the secrets masked. The log and
 * `ty.event.>` have the secrets, so nothing else may turn a stored event into something that leaves. All parts are
 * computed at most once, however many readers the event has.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { type Plain, shortNameOf } from "@trainyard/contracts";
import type { Event } from "@trainyard/contracts/api";
import type { StoredEvent } from "@trainyard/event-log";
import { maskedDocument } from "@trainyard/experiment-config";
import { utf8Bytes } from "@trainyard/kernel";
import { experimentKey } from "@trainyard/runtime";
import { outboundLimits } from "./limits.ts";

/** The events with a configuration, which may have secrets. */
const withConfig: ReadonlySet<string> = new Set(["ExperimentCreated", "TaskCreated"]);

export class LeavingEvent {
  readonly stored: StoredEvent;
  /** The type without prefix and version, for example ExperimentEnded. */
  readonly name: string;
  readonly #epoch: string;
  #data: JsonObject | undefined;
  #shown: Plain<Event> | undefined;
  #text: string | undefined;

  /** `epoch` identifies the history of the database (`databaseEpoch`). */
  constructor(stored: StoredEvent, epoch: string) {
    this.stored = stored;
    this.name = shortNameOf(stored.type);
    this.#epoch = epoch;
  }

  /** The number of the event's experiment, the id of its task, or its stream if it has neither. */
  get experiment(): string {
    return experimentKey(this.stored);
  }

  /** The body, with the secrets of a configuration masked. */
  get data(): JsonObject {
    this.#data ??= withoutSecrets(this.name, JSON.parse(this.stored.body) as JsonObject);
    return this.#data;
  }

  /** The event; a large body is replaced by its address. */
  get shown(): Plain<Event> {
    this.#shown ??= this.#isLarge
      ? { ...this.#attributes(), dataref: addressOf(this.stored.position) }
      : this.whole;
    return this.#shown;
  }

  /** The event with its whole body, however large. */
  get whole(): Plain<Event> {
    return { ...this.#attributes(), data: this.data };
  }

  /** The JSON text of `shown` (CloudEvents' structured mode). */
  get text(): string {
    this.#text ??= JSON.stringify(this.shown);
    return this.#text;
  }

  get #isLarge(): boolean {
    const { bodyBytesMax } = outboundLimits;
    return utf8Bytes(this.stored.body) > bodyBytesMax;
  }

  #attributes(): Plain<Event> {
    const { meta, position, stream, version, timeMs, id, type } = this.stored;
    return {
      specversion: "1.0",
      id,
      source: meta.source,
      type,
      subject: stream,
      time: new Date(timeMs).toISOString(),
      sequence: String(position),
      epoch: this.#epoch,
      streamversion: String(version),
      ...presentOf({
        workspace: meta.workspace,
        correlationid: meta.correlationid,
        causationid: meta.causationid,
        authid: meta.authid,
        traceparent: meta.traceparent,
      }),
      datacontenttype: "application/json",
    };
  }
}

/** The address of an event with its whole body, at the server. */
function addressOf(position: number): string {
  return `/api/v1/events/${position}`;
}

function withoutSecrets(name: string, data: JsonObject): JsonObject {
  const { config } = data;
  if (!withConfig.has(name) || config === undefined) return data;
  return { ...data, config: maskedDocument(config as JsonObject) };
}

/** An attribute of CloudEvents is absent instead of empty. */
function presentOf<Name extends string>(
  attributes: Readonly<Record<Name, string>>,
): Partial<Record<Name, string>> {
  const present = Object.entries<string>(attributes).filter(([, value]) => value !== "");
  return Object.fromEntries(present) as Partial<Record<Name, string>>;
}
