import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId, type SeenEvent } from "@trainyard/event-log";
import type { MemoryLog } from "@trainyard/event-log/testing";

/**
 * Appends the events of the modelled services. Only they write to their streams, so only a guard can cause a refusal.
 */
export class Teller {
  readonly #log: MemoryLog;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  /** Returns false if a guarded stream had a newer version. Throws a Fault if the log has lost the event `seen`. */
  async tell(
    stream: string,
    events: readonly AnyEvent[],
    guards: Readonly<Record<string, number>> = {},
    seen?: SeenEvent,
  ): Promise<boolean> {
    const result = await this.#log.as("model").append({
      commitId: newEventId(),
      writes: [
        {
          stream,
          expectedVersion: this.#log.store.version(stream),
          events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
        },
      ],
      ...(seen && { seen }),
      guards: Object.entries(guards).map(([guarded, expectedVersion]) => ({
        stream: guarded,
        expectedVersion,
      })),
      meta: {
        source: "/trainyard/model",
        workspace: "",
        correlationid: "",
        causationid: "",
        authid: "",
        traceparent: "",
      },
    });
    if (result.kind !== "committed" && result.kind !== "conflict") {
      throw new Error(`the model's commit was refused: ${JSON.stringify(result)}`);
    }
    return result.kind === "committed";
  }
}
