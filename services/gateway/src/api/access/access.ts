/**
 * The calls about groups, roles and who has them. All changes are decided on one stream, each together with the rule
 * that a person remains who is a cluster admin.
 */
import { type AccessCommand, accessId, type AccessState } from "@trainyard/access";
import { reject, type Rejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { commit, rejectionOf } from "../../people/commit.ts";
import { refuseLastAdmin } from "../../people/last-admin.ts";
import type { People } from "../../people/people.ts";
import { idsOfPeople } from "../../people/user-rows.ts";
import { access } from "../../streams.ts";
import { grantHandlers } from "./grants.ts";
import { groupHandlers } from "./groups.ts";
import { roleHandlers } from "./roles.ts";

const accessFold = foldOf(access);

/** Returns the commands of a change; they are decided one after the other. Throws a Problem for a refusal. */
export type AccessCommandsFor = (state: AccessState) => readonly Change[];
type Change<All = AccessCommand> = All extends AccessCommand ? Omit<All, "by"> : never;

/** Commits a change. Returns its position and the state after it. */
export type ChangeAccess = (
  commandsFor: AccessCommandsFor,
  context: RequestContext,
) => Promise<{ readonly position: string; readonly state: AccessState }>;

export function accessHandlers(backend: Backend, people: People) {
  const { parts } = backend;
  const change: ChangeAccess = async (commandsFor, context) => {
    const all = await idsOfPeople(parts.pool);
    const position = await commit(backend, context, (work) =>
      decide(work, commandsFor, all, context),
    );
    return { position, state: await parts.access.state() };
  };
  return {
    ...groupHandlers(backend, people, change),
    ...roleHandlers(backend, change),
    ...grantHandlers(backend, people, change),
  } satisfies Partial<UnaryHandlers>;
}

async function decide(
  work: Work,
  commandsFor: AccessCommandsFor,
  people: readonly string[],
  { caller }: RequestContext,
): Promise<Rejection | undefined> {
  const state = await work.load(accessFold, accessId);
  if (!state.hasUsers) {
    const detail = 'this cluster has no users yet: create the first one with "yard user create"';
    return reject("no_users", detail);
  }
  for (const command of commandsFor(state)) {
    const decided = await work.decide(access, accessId, { ...command, by: caller.authid });
    const rejected = rejectionOf(decided);
    if (rejected !== undefined) return rejected;
  }
  return refuseLastAdmin(work, people);
}
