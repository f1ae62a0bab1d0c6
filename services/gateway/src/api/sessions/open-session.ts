/** Opens sessions: by a token, a code that works once, or the name and the password of a person. */
import type { RequestOf } from "@trainyard/contracts";
import type { Backend } from "../../backend.ts";
import {
  type Caller,
  type Credentials,
  callerOfPerson,
  callerOfToken,
  type UserCaller,
} from "../../http/caller.ts";
import { httpLimits } from "../../http/limits.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import type { Secret, Sessions } from "../../http/sessions.ts";
import { WrongCodes } from "../../http/wrong-codes.ts";
import type { People } from "../../people/people.ts";

type Opened = Secret & { readonly caller: UserCaller };
type SignIn = RequestOf<"createSession">;

export type OpenerDeps = {
  readonly sessions: Sessions;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
};

/** Returns the function that opens the session of a request. */
export function sessionOpener(
  backend: Backend,
  { sessions, authenticate }: OpenerDeps,
  people: People,
): (request: SignIn, context: RequestContext) => Promise<Opened> {
  const wrongCodes = new WrongCodes();
  const openByCode = async (code: string, address: string): Promise<Opened> => {
    const token = await sessions.tokenOfCode(code);
    if (token === undefined) throw invalidCode(wrongCodes, address);
    const caller = callerOfToken(await backend.find("token", token), backend.parts.clock.nowMs());
    await backend.parts.access.requireEnabled(caller.user);
    const opened = await sessions.redeem(code);
    // Another request has redeemed the code meanwhile.
    if (opened === undefined) throw invalidCode(wrongCodes, address);
    return { ...opened, caller };
  };
  const callerOf = async (token: string, context: RequestContext): Promise<UserCaller> => {
    if (token !== "") {
      return userOf(await authenticate({ authorization: `Bearer ${token}`, session: undefined }));
    }
    const caller = userOf(context.caller);
    if (caller.token !== "") return caller;
    throw new Problem(
      401,
      "no_token",
      "give a token, a code of POST /api/v1/session-codes, or a name and a password",
    );
  };
  const openByPassword = async ({ name, password }: SignIn, address: string): Promise<Opened> => {
    const verified = await people.verify(name, password, address);
    const opened = verified && (await sessions.openOfPerson(verified.id, verified.hash));
    // The password of a verified person has changed meanwhile.
    if (!verified || !opened) throw new Problem(401, "wrong_password", wrong);
    await people.refresh(verified, password, address);
    return { ...opened, caller: callerOfPerson(verified.id) };
  };
  return async (request, context) => {
    const { token, code, name, password } = request;
    if ([token, code, `${name}${password}`].filter((text) => text !== "").length > 1) {
      const detail = "give a token, a code, or a name and a password: only one of them";
      throw new Problem(400, "invalid_request", detail);
    }
    if (code !== "") return openByCode(code, context.address);
    if (name !== "" || password !== "") return openByPassword(request, context.address);
    const caller = await callerOf(token, context);
    return { ...(await sessions.open(caller.token)), caller };
  };
}

const unusable = `this link was used before, or is older than ${httpLimits.sessionCodeMinutes} minutes; "yard ui" prints a new one`;

/** The refusal is the same for an unknown name, a service account and a disabled user: guessing tells nothing. */
const wrong = "the name or the password is wrong";

/** Throws a Problem of 429 if the address has sent too many wrong codes. */
function invalidCode(wrongCodes: WrongCodes, address: string): Problem {
  wrongCodes.count(address);
  return new Problem(401, "invalid_code", unusable);
}

export function userOf(caller: Caller): UserCaller {
  if (caller.kind === "user") return caller;
  throw new Problem(403, "not_for_runs", "a run's token opens no session");
}
