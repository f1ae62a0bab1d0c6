/**
 * Accepts the beginning of a checkpoint's id wherever a person names a checkpoint: tables and pages show its first
 * eight digits. Calls by which runs write their checkpoints take whole ids only: their checkpoints may not exist yet. A
 * run that calls for its task's owner is refused the saves of other tasks here, in one place for all these calls.
 */
import { allRights, type Rights } from "@trainyard/access";
import type { RawName, UnaryName } from "@trainyard/contracts";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import { findObject, isSeen } from "./rights/objects.ts";
import { refuseSaveOfOthers } from "./checkpoints/saves-of-others.ts";

/** The first group of a UUID, and more; a whole id needs no look. */
const beginning = /^[0-9a-f]{8}[0-9a-f-]{0,27}$/;

const unaryCalls = [
  "getCheckpoint",
  "planDownload",
  "planFiles",
  "pinCheckpoint",
  "unpinCheckpoint",
  "deleteCheckpoint",
  "undeleteCheckpoint",
  "explainCheckpoint",
  "verifyCheckpoint",
  "registerModelVersion",
  "forkExperiment",
] as const satisfies readonly UnaryName[];
const rawCalls = ["downloadCheckpoint"] as const satisfies readonly RawName[];

/** Returns the handlers, of which these calls get whole ids. */
export function withWholeCheckpointIds(backend: Backend, handlers: Handlers): Handlers {
  const { unary, raw } = handlers;
  return {
    ...handlers,
    unary: { ...unary, ...wrapped(backend, unary, unaryCalls) },
    raw: { ...raw, ...wrapped(backend, raw, rawCalls) },
  };
}

type Handler<Request> = (request: Request, context: RequestContext) => Promise<unknown>;

/** Returns the named handlers, each with the same type as before. */
function wrapped<Some extends object, Name extends keyof Some>(
  backend: Backend,
  handlers: Some,
  names: readonly Name[],
): Pick<Some, Name> {
  const entries = names.map((name) => {
    const handler = handlers[name] as Handler<{ readonly checkpoint: string }>;
    const whole: typeof handler = async (request, context) => {
      // A run has no rights of a user: its own calls decide what it may read.
      const rights = context.caller.kind === "run" ? allRights("") : context.rights;
      const checkpoint = await wholeCheckpointId(backend, request.checkpoint, rights);
      await refuseSaveOfOthers(backend, checkpoint, context.caller);
      return handler(
        checkpoint === request.checkpoint ? request : { ...request, checkpoint },
        context,
      );
    };
    return [name, whole] as const;
  });
  return Object.fromEntries(entries) as Pick<Some, Name>;
}

/**
 * Returns the id of the one checkpoint that begins with the text, of those that the caller may see; the text itself if
 * it is a whole id or if none does. Throws a Problem if several do.
 */
export async function wholeCheckpointId(
  backend: Backend,
  text: string,
  rights: Rights,
): Promise<string> {
  if (!beginning.test(text)) return text;
  const found: string[] = [];
  for await (const id of seenBeginningWith(backend, text, rights)) {
    found.push(id);
    if (found.length === 2) break;
  }
  if (found.length < 2) return found[0] ?? text;
  const detail = `the ids of several checkpoints begin with ${text}: give more of the id`;
  throw new Problem(400, "ambiguous_checkpoint", detail);
}

async function* seenBeginningWith(
  backend: Backend,
  text: string,
  rights: Rights,
): AsyncGenerator<string> {
  const { documents, pool } = backend.parts;
  const seesAll = rights.everywhere("experiment_view") && rights.everywhere("task_view");
  for (let after = ""; ; ) {
    const ids = await documents.idsBeginningWith(pool, "checkpoint", text, {
      after,
      limit: idsRead,
    });
    for (const id of ids) {
      const found = seesAll ? null : await findObject(backend, "checkpoint", id);
      if (found === null || (found !== undefined && isSeen(rights, found))) yield id;
    }
    after = ids.at(-1) ?? "";
    if (ids.length < idsRead) return;
  }
}

/** The ids that are read together. Two draws of a UUID hardly ever begin with the same eight digits. */
const idsRead = 4;
