import { randomBytes } from "node:crypto";
import { accessId, type Group } from "@trainyard/access";
import { isRejection, type Rejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { refuseLastAdmin } from "../last-admin.ts";
import { access } from "../../streams.ts";

const accessFold = foldOf(access);

/**
 * Replaces the groups that a claim gives to a user. A new name makes a group; a name that no group can have, and that
 * of a group which people made by hand, are left out. `people` are the ids of all people, of whom one stays an admin.
 */
export async function replaceGroups(
  work: Work,
  user: string,
  names: readonly string[],
  { by, people }: { readonly by: string; readonly people: readonly string[] },
): Promise<Rejection | undefined> {
  let hasLeft = false;
  const { groups } = await work.load(accessFold, accessId);
  const known = new Map([...groups.values()].map((group) => [keyOf(group.name), group]));
  const wanted = new Set<string>();
  for (const name of names) {
    const group = known.get(keyOf(name)) ?? (await newGroup(work, name, by));
    if (isRejection(group)) {
      if (group.rejected === "invalid_request") continue;
      return group;
    }
    known.set(keyOf(name), group);
    if (group.fromClaim) wanted.add(group.id);
  }
  for (const { id, fromClaim, members } of known.values()) {
    if (!fromClaim || wanted.has(id) === members.has(user)) continue;
    const [join, leave] = wanted.has(id) ? [[user], []] : [[], [user]];
    const change = { kind: "change members", group: id, join, leave, fromClaim, by } as const;
    const decided = await work.decide(access, accessId, change);
    if (isRejection(decided)) return decided;
    hasLeft ||= leave.length > 0;
  }
  return hasLeft ? refuseLastAdmin(work, people) : undefined;
}

async function newGroup(work: Work, name: string, by: string): Promise<Group | Rejection> {
  const id = randomBytes(6).toString("hex");
  const create = { kind: "create group", group: id, name, fromClaim: true, by } as const;
  const decided = await work.decide(access, accessId, create);
  return isRejection(decided) ? decided : { id, name, fromClaim: true, members: new Set() };
}

/** Names of groups differ in more than their case. */
const keyOf = (name: string): string => name.toLowerCase();
