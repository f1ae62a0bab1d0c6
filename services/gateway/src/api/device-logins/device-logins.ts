/** The calls by which a program signs in as a person who confirms it on a page. */
import { userOf } from "@trainyard/access";
import { isLine } from "@trainyard/kernel";
import { newApiToken } from "@trainyard/kernel/api-token";
import type { Backend } from "../../backend.ts";
import { callerOfPerson, callerOfToken, type UserCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { DeviceLogins } from "../../people/device-logins.ts";
import { deviceLoginLimits } from "../../people/limits.ts";
import { ownCommit } from "../../spaces/own-commit.ts";
import { findTokens, issueToken } from "../../spaces/tokens.ts";

export function deviceLoginHandlers(backend: Backend) {
  const { pool, directory } = backend.parts;
  const logins = new DeviceLogins(pool);
  return {
    startDeviceLogin: async ({ program }, { address }) => {
      const { programCharactersMax: most, intervalSeconds } = deviceLoginLimits;
      if (program === "" || !isLine(program) || program.length > most) {
        const detail = `program is one line of 1 to ${most} characters`;
        throw new Problem(400, "invalid_request", detail);
      }
      const started = await logins.start(program, address);
      return { ...started, path: `/device?code=${started.code}`, intervalSeconds };
    },
    finishDeviceLogin: async ({ secret }, context) => {
      const { owner, token: of, program } = await logins.finish(secret);
      const person = await personOf(backend, owner, of);
      await backend.parts.access.requireEnabled(person.user);
      const made = newApiToken();
      const position = await issueToken(backend, ownCommit({ ...context, caller: person }), {
        ...made,
        label: program,
        owner,
        expiresAtMs: person.tokenExpiresAtMs ?? 0,
        ancestors: of === "" ? [] : [of, ...person.ancestors],
        limits: person.limits,
      });
      await backend.reach(position);
      return { token: made.text, user: directory.nameOf(owner) };
    },
    getDeviceLogin: async ({ code }) => {
      const found = await logins.find(code);
      if (found === undefined) throw noSuchCode();
      return found;
    },
    answerDeviceLogin: async ({ code, confirm }, { caller }) => {
      const person = signedInPerson(caller);
      const { owner, token } = person;
      if (!(await logins.answer(code, confirm ? { owner, token } : null))) throw noSuchCode();
      return {};
    },
  } satisfies Partial<UnaryHandlers>;
}

/** Returns the caller that the token of the program gets its rights from. Throws a Problem of 401 if it has ended. */
async function personOf(backend: Backend, owner: string, token: string): Promise<UserCaller> {
  if (token === "") return callerOfPerson(userOf(owner));
  const found = await findTokens(backend.parts, [token]);
  return callerOfToken(found.get(token), backend.parts.clock.nowMs());
}

/** A token confirms nothing: a program that holds one would make others that outlive it. */
function signedInPerson(caller: RequestContext["caller"]): UserCaller {
  if (caller.kind === "user" && caller.session !== null) return caller;
  const detail = "confirm the sign-in on the page /device, signed in with a browser";
  throw new Problem(403, "needs_session", detail);
}

const noSuchCode = (): Problem =>
  new Problem(
    404,
    "no_such_code",
    "no sign-in waits with this code: it was answered or has expired",
  );
