/** Effects of events that concern only an allocation. */
import type { EventData } from "@trainyard/contracts";
import type { Preemptions } from "./preemptions.ts";
import type { Agent, Allocation, Grant, RecordedEvent } from "./state.ts";

export function queuedAllocation(
  { id, eventId, position, timeMs, origin }: RecordedEvent,
  queued: EventData<"AllocationQueued">,
  preemptions: Preemptions,
): Allocation | null {
  const { task, run, job, resources, preemptible, delayMs, avoided, workspace, owner } = queued;
  if (resources === undefined) return null;
  return {
    id,
    request: eventId,
    task,
    run,
    job,
    workspace,
    owner,
    preemptible,
    resources,
    origin,
    arrival: position,
    queuedAtMs: timeMs,
    notBeforeMs: timeMs + delayMs,
    wait: null,
    grant: null,
    started: false,
    startedAtMs: null,
    checkpointed: false,
    preemptions: preemptions.of({ job, task }),
    stop: null,
    ownStop: null,
    stopAcknowledged: false,
    avoid: avoided?.agents ?? [],
  };
}

export function grantedAllocation(
  { position, timeMs, eventId, origin }: RecordedEvent,
  granted: EventData<"AllocationGranted">,
): Partial<Allocation> {
  const { placements, masterAddress, masterPort, tokenKey, borrowed = 0, passed } = granted;
  const lender = passed?.onItsSlots === true ? passed.allocation : null;
  const rendezvous = { masterAddress, masterPort, tokenKey };
  const { traceparent } = origin;
  const event = { position, eventId, atMs: timeMs, traceparent };
  const grant: Grant = { ...event, borrowed, lender, placements, ...rendezvous };
  return { grant, wait: null };
}

/** The runs that a returning agent still has, except those granted there. */
export function ghostsOf(
  { occupations }: EventData<"AgentReturned">,
  grantedTo: (allocation: string) => readonly string[] | null,
): Agent["ghosts"] {
  const ghosts = occupations.flatMap(({ allocation, slots }) => {
    const granted = grantedTo(allocation);
    if (granted === null) return [[allocation, slots] as const];
    const others = slots.filter((slot) => !granted.includes(slot));
    return others.length === 0 ? [] : [[allocation, others] as const];
  });
  return Object.fromEntries(ghosts);
}
