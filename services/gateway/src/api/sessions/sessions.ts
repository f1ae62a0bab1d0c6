import type { Plain } from "@trainyard/contracts";
import type { Session } from "@trainyard/contracts/api";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import {
  type Caller,
  type Credentials,
  callerOfToken,
  type UserCaller,
} from "../../http/caller.ts";
import { httpLimits } from "../../http/limits.ts";
import type { OpenCalls } from "../../http/open-calls.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { Secret, Sessions } from "../../http/sessions.ts";
import { WrongCodes } from "../../http/wrong-codes.ts";

export type Door = {
  readonly sessions: Sessions;
  readonly openCalls: OpenCalls;
  readonly authenticate: (credentials: Credentials) => Promise<Caller>;
};

type Opened = Secret & { readonly caller: UserCaller };
type SignIn = { readonly token: string; readonly code: string };

/** Returns the handlers that sign in, show the present session, and sign out. */
export function sessionHandlers(backend: Backend, { sessions, openCalls, authenticate }: Door) {
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
    throw new Problem(401, "no_token", "give a token, or a code of POST /api/v1/session-codes");
  };
  const open = async ({ token, code }: SignIn, context: RequestContext): Promise<Opened> => {
    if (token !== "" && code !== "") {
      throw new Problem(400, "invalid_request", "give a token or a code, not both");
    }
    if (code !== "") return openByCode(code, context.address);
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
      if (session !== null) {
        const detail = 'a session cannot open another one: "yard ui" prints a link by a token';
        throw new Problem(403, "not_for_sessions", detail);
      }
      const { secret: code, expiresAtMs } = await sessions.newCode(token);
      return { code, expiresAtMs };
    },
  } satisfies Partial<UnaryHandlers>;
}

const unusable = `this link was used before, or is older than ${httpLimits.sessionCodeMinutes} minutes; "yard ui" prints a new one`;

/** Throws a Problem of 429 if the address has sent too many wrong codes. */
function invalidCode(wrongCodes: WrongCodes, address: string): Problem {
  wrongCodes.count(address);
  return new Problem(401, "invalid_code", unusable);
}

function userOf(caller: Caller): UserCaller {
  if (caller.kind === "user") return caller;
  throw new Problem(403, "not_for_runs", "a run's token opens no session");
}
