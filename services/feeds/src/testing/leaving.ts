/** Events on their way out, without a log. */
import { encodeEvent } from "@trainyard/contracts";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { LeavingEvent } from "@trainyard/outbound";
import { emptyMeta } from "@trainyard/runtime";

/** Returns an event of a stream; its body has a text of the given length. */
export function leavingEvent(
  position: number,
  stream: string,
  { version = position, text = "" }: { readonly version?: number; readonly text?: string } = {},
): LeavingEvent {
  const event = encodeEvent({
    type: "ExperimentStopRequested",
    data: { kind: 1, reason: text },
  });
  const stored: StoredEvent = {
    position,
    stream,
    version,
    id: newEventId(),
    ...event,
    timeMs: 1_750_000_000_000 + position,
    commitId: newEventId(),
    meta: { ...emptyMeta, source: "/trainyard/experiments", authid: "token:4f" },
  };
  return new LeavingEvent(stored, "epoch-1");
}
