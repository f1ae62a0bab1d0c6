import { isDeepStrictEqual } from "node:util";
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { assert, categoryOf, Fault } from "@trainyard/kernel";
import type { Check, Verdict } from "./check.ts";
import type { StreamFold } from "../folds/folds.ts";
import { withoutEvent } from "../folds/saved-fold.ts";
import { runtimeLimits } from "../limits.ts";
import { shownBeside } from "./shown-beside.ts";

/**
 * Checks the saved states of a category's streams: each is compared with its stream, folded from the first event up to
 * the saved version. States in a format that the fold does not read are never used, so they count as valid.
 */
export function snapshotCheck<State>(
  service: string,
  fold: StreamFold<State>,
  log: EventLog,
): Check {
  return {
    name: `${service}.${fold.name}-snapshots`,
    run: (signal) => verifySnapshots(fold, log, signal),
  };
}

async function verifySnapshots<State>(
  fold: StreamFold<State>,
  log: EventLog,
  signal: AbortSignal,
): Promise<Verdict> {
  const head = await log.head();
  for (let position = 0; position < head; ) {
    if (signal.aborted)
      throw new Fault("unverifiable", "the client no longer waits for it", { retry: "later" });
    const page = await log.readAll(position, runtimeLimits.pageEvents);
    for (const { stream, version } of page) {
      // Each stream is found by its first event.
      if (version !== 1 || categoryOf(stream) !== fold.category) continue;
      const finding = await compare(fold, log, stream);
      if (finding !== "") return { position: head, finding };
    }
    if (page.length === 0) break;
    position = page.at(-1)?.position ?? head;
  }
  return { position: head, finding: "" };
}

async function compare<State>(
  fold: StreamFold<State>,
  log: EventLog,
  stream: string,
): Promise<string> {
  const codec = fold.snapshot;
  assert(codec !== undefined, `the fold ${fold.name} has a snapshot's format`);
  const saved = await log.loadSnapshot(stream, codec.schema);
  const kept = saved === null ? null : codec.decode(withoutEvent(saved.body));
  if (saved === null || kept === null) return "";
  let state = fold.initial;
  let version = 0;
  while (version < saved.version) {
    const limit = Math.min(runtimeLimits.pageEvents, saved.version - version);
    const page = await log.read(stream, version, limit);
    if (page.length === 0) {
      return `the saved state of ${stream} is of version ${saved.version}, and the log has ${version} events of it`;
    }
    for (const stored of page) state = fold.evolve(state, decodeEvent(stored));
    version += page.length;
  }
  // The saved state is encoded again, so that an older encoding of the same state is no difference; the order of keys
  // is none either.
  const [is, becomes] = [codec.encode(kept), codec.encode(state)];
  if (is === becomes || isDeepStrictEqual(JSON.parse(is), JSON.parse(becomes))) return "";
  const [live, rebuilt] = shownBeside(is, becomes);
  return `the saved state of ${stream} at version ${version} is ${live}, but a rebuild has ${rebuilt}`;
}
