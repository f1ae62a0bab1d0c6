/** The calls that change a password. They end the person's other sessions, and with these their streams. */
import type { ReplyOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { passwordForm, randomPassword, requireForm } from "../../people/passwords.ts";
import type { People, User } from "../../people/people.ts";
import { setPasswordHash } from "../../people/user-rows.ts";
import { siteOf } from "../../rates/client-address.ts";
import { change, userCaller } from "./user-change.ts";

type After = (
  id: string,
  position: string,
  context: RequestContext,
) => Promise<ReplyOf<"setPassword">>;

export function passwordHandlers(backend: Backend, people: People, after: After) {
  const set = async (
    id: string,
    password: string,
    keptSession: string,
    context: RequestContext,
  ): Promise<string> => {
    const hash = await people.passwords.hash(password, siteOf(context.address));
    await setPasswordHash(backend.parts.pool, { id, hash, keptSession });
    const by = context.caller.authid;
    const signOut = { type: "sign out", reason: "a new password", by } as const;
    return change(backend, id, signOut, context);
  };
  return {
    setPassword: async ({ current, password }, context) => {
      const caller = userCaller(context);
      const user = await people.find(caller.user);
      requirePerson(user);
      requireForm(password);
      const verified = await people.verify(user.name, current, context.address);
      if (verified === null) {
        throw new Problem(403, "wrong_password", "the present password is wrong");
      }
      const position = await set(user.id, password, caller.session?.digest ?? "", context);
      return after(user.id, position, context);
    },
    resetPassword: async ({ user: name }, context) => {
      const user = await people.find(name);
      requirePerson(user);
      const password = randomPassword();
      return { password, position: await set(user.id, passwordForm(password), "", context) };
    },
  } satisfies Partial<UnaryHandlers>;
}

function requirePerson({ kind }: User): void {
  if (kind === "person") return;
  const detail = "a service account has no password: it is used with tokens";
  throw new Problem(409, "no_password", detail);
}
