import { accessId, adminsIn } from "@trainyard/access";
import { reject, type Rejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { access, users } from "../streams.ts";

const accessFold = foldOf(access);
const userFold = foldOf(users);

/**
 * Refuses a work after which no person is a cluster admin. It guards who has which role and one person who remains, so
 * that of two works at once that end each other's admin, the second is decided again. `people` are the ids of all.
 */
export async function refuseLastAdmin(
  work: Work,
  people: readonly string[],
): Promise<Rejection | undefined> {
  const state = await work.guard(accessFold, accessId);
  for (const id of adminsIn(state, people)) {
    const { kind, disabled } = await work.load(userFold, id);
    if (kind !== "person" || disabled) continue;
    await work.guard(userFold, id);
    return undefined;
  }
  const detail =
    "no person would be a cluster admin after this: give another person the role cluster-admin first";
  return reject("last_admin", detail);
}
