import type { Plain, RequestOf } from "@trainyard/contracts";
import type { Session } from "@trainyard/contracts/api";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import {
  type Caller,
  type Credentials,
  callerOfPerson,
  callerOfToken,
  type UserCaller,
} from "../../http/caller.ts";
import { httpLimits } from "../../http/limits.ts";
import type { OpenCalls } from "../../http/open-calls.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { Secret, Sessions } from "../../http/sessions.ts";
import { WrongCodes } from "../../http/wrong-codes.ts";
import type { People } from "../../people/people.ts";

export type Door = {
  readonly sessions: Sessions;
  readonly openCalls: OpenCalls;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
};

type Opened = Secret & { readonly caller: UserCaller };
type SignIn = RequestOf<"createSession">;

/** Returns the handlers that sign in, show the present session, and sign out. */
export function sessionHandlers(
  backend: Backend,
  { sessions, openCalls, authenticate }: Door,
  people: People,
) {
  const wrongCodes = new WrongCodes();
  const shown = async (caller: UserCaller): Promise<Plain<Session>> => {
    const isOfToken = caller.token !== "";
    const label = isOfToken ? (await backend.get("token", caller.token)).label : "";
    return {
      token: caller.token,
      label,
      owner: backend.parts.directory.nameOf(caller.owner),
      user: caller.user,
      expiresAtMs: caller.session?.expiresAtMs,
      tokenExpiresAtMs: caller.tokenExpiresAtMs,
      clusterId: sessions.clusterId,
    };
  };
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
  const open = async (request: SignIn, context: RequestContext): Promise<Opened> => {
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
  return {
    createSession: async (request, context) => {
      const { caller, secret, expiresAtMs } = await open(request, context);
      assert(context.cookie !== null, "sessions are opened over HTTP");
      context.cookie.set(secret);
      return { ...(await shown(caller)), expiresAtMs };
    },
    getCurrentSession: async (_request, { caller }) => shown(userOf(caller)),
    deleteCurrentSession: async (_request, { caller, cookie }) => {
      const { session } = userOf(caller);
      if (session !== null) {
        await sessions.end(session.digest);
        openCalls.sessionEnded(session.digest);
      }
      cookie?.clear();
      return {};
    },
    createSessionCode: async (_request, { caller }) => {
      const { token, session } = userOf(caller);
      if (session !== null || token === "") {
        const detail = 'a session cannot open another one: "yard ui" prints a link by a token';
        throw new Problem(403, "not_for_sessions", detail);
      }
      const { secret: code, expiresAtMs } = await sessions.newCode(token);
      return { code, expiresAtMs };
    },
  } satisfies Partial<UnaryHandlers>;
}

const unusable = `this link was used before, or is older than ${httpLimits.sessionCodeMinutes} minutes; "yard ui" prints a new one`;

/** The refusal is the same for an unknown name, a service account and a disabled user: guessing tells nothing. */
const wrong = "the name or the password is wrong";

/** Throws a Problem of 429 if the address has sent too many wrong codes. */
function invalidCode(wrongCodes: WrongCodes, address: string): Problem {
  wrongCodes.count(address);
  return new Problem(401, "invalid_code", unusable);
}

function userOf(caller: Caller): UserCaller {
  if (caller.kind === "user") return caller;
  throw new Problem(403, "not_for_runs", "a run's token opens no session");
}
