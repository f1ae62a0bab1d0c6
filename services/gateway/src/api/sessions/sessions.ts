import type { Plain } from "@trainyard/contracts";
import type { Session } from "@trainyard/contracts/api";
import { assert } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { UserCaller } from "../../http/caller.ts";
import type { OpenCalls } from "../../http/open-calls.ts";
import { Problem } from "../../http/problem.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";
import type { People } from "../../people/people.ts";
import { type OpenerDeps, sessionOpener, userOf } from "./open-session.ts";

export type Door = OpenerDeps & { readonly openCalls: OpenCalls };

/** Returns the handlers that sign in, show the present session, and sign out. */
export function sessionHandlers(backend: Backend, door: Door, people: People) {
  const { sessions, openCalls } = door;
  const open = sessionOpener(backend, door, people);
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
