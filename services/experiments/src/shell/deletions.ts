/**
 * Completes the deletions of experiments whose grace is over. An undo and the completion are both decided on the
 * experiment's stream, so the first one wins.
 */
import { decodeEvent, shortNameOf } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import {
  type DeletionGate,
  type DueDeps,
  DueFold,
  type DueFoldSpec,
  type DueSpec,
  runtimeLimits,
  serviceMeta,
} from "@trainyard/runtime";
import { experiments } from "../streams.ts";

type DeletionsDeps = DueDeps & {
  readonly hold: DeletionGate;
  /** The time in which a deletion can be undone. */
  readonly deletionGraceMs: number;
};

function deletionsFold(deletionGraceMs: number): DueFoldSpec {
  return {
    stream: "experiment-deletions",
    schema: "experiment-deletions/2",
    what: "the deletions of experiments",
    category: "experiment",
    dueOf: (stored) => {
      const type = shortNameOf(stored.type);
      if (type === "ExperimentDeletionUndone" || type === "ExperimentDeleted") return null;
      const event = type === "ExperimentDeletionRequested" ? decodeEvent(stored) : null;
      if (event?.type !== "ExperimentDeletionRequested") return undefined;
      // The clock of the host that wrote the end of the grace may have been behind.
      return Math.max(event.data.graceEndMs, stored.timeMs + deletionGraceMs);
    },
  };
}

export async function openDeletions(deps: DeletionsDeps): Promise<DueFold> {
  const { executor, hold } = deps;
  const act: DueSpec["act"] = async (id, _, { span }) => {
    // If the deletion is undone and requested again from here on, its grace ends later, so nothing is decided.
    const atMs = deletions.dueMs(id);
    // The deletion may have been undone in a part that the log lost, and cannot be undone once it is complete.
    if ((await hold.reason()) !== null) return deletions.loop.inMs(runtimeLimits.heldLookMs);
    const meta = serviceMeta("experiments", { traceparent: span.traceparent });
    const identity = { commitId: newEventId(), meta };
    await executor.execute(identity, async (work) => {
      await work.decide(experiments, id, { kind: "delete_for_good", atMs });
    });
    return null;
  };
  const spec = { name: "deletions", service: "experiments", lane: 2, act };
  const deletions = await DueFold.open(deletionsFold(deps.deletionGraceMs), spec, deps);
  return deletions;
}
