/**
 * Makes a person an admin who can sign in, for a cluster whose admins cannot: it needs no running gateway, only the
 * database that the gateway uses, and its settings are the permission.
 */
import { randomUUID } from "node:crypto";
import { accessId } from "@trainyard/access";
import type { EventLog } from "@trainyard/event-log";
import { isRejection, reject, type Rejection } from "@trainyard/kernel";
import { Executor, FoldCache, foldOf, serviceMeta, type Work } from "@trainyard/runtime";
import type { Pool } from "pg";
import { access, users } from "../streams.ts";
import { rejectionOf } from "./commit.ts";
import { hashOf, passwordForm, randomPassword } from "./passwords.ts";
import { rowOfName, setPasswordHash } from "./user-rows.ts";

const userFold = foldOf(users);
const accessFold = foldOf(access);
const by = "host";

/** Returns the person's new password, or why there is none. */
export async function resetAdmin(
  { pool, log }: { readonly pool: Pool; readonly log: EventLog },
  name: string,
): Promise<{ readonly password: string } | Rejection> {
  const id = (await rowOfName(pool, name))?.id;
  if (id === undefined) return noPerson(name);
  const password = randomPassword();
  const hash = await hashOf(passwordForm(password));
  const identity = { commitId: randomUUID(), meta: serviceMeta("gateway", { authid: by }) };
  const enabled = await new Executor(log, new FoldCache(log)).execute(identity, async (work) => {
    const { kind } = await work.load(userFold, id);
    return kind === "person" ? makeAdmin(work, id) : noPerson(name);
  });
  if (isRejection(enabled)) return enabled;
  await setPasswordHash(pool, { id, hash, keptSession: "" });
  return { password };
}

async function makeAdmin(work: Work, id: string): Promise<Rejection | undefined> {
  const { hasUsers } = await work.load(accessFold, accessId);
  if (!hasUsers) return reject("no_users", "this cluster has no users: its tokens do everything");
  const grant = { grant: randomUUID(), role: "cluster-admin", user: id, group: "", workspace: "" };
  for (const command of [
    { type: "enable", by },
    { type: "sign out", reason: "a new password", by },
  ] as const) {
    await work.decide(users, id, command);
  }
  return rejectionOf(await work.decide(access, accessId, { kind: "give", ...grant, by }));
}

const noPerson = (name: string): Rejection =>
  reject("user_not_found", `there is no person ${JSON.stringify(name.slice(0, 80))}`);
