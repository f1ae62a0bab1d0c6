import type { KeyObject } from "node:crypto";
import { createHash, timingSafeEqual } from "node:crypto";
import { authidOf, localUser, type TokenLimit, userOf } from "@trainyard/access";
import { parseRunId, parseTaskRunId } from "@trainyard/kernel";
import { readApiToken } from "@trainyard/kernel/api-token";
import { readRunToken, type RunGrants } from "@trainyard/runtime";
import type { Bucket } from "../rates/rates.ts";
import type { TokenDocument } from "../read-model/core/views/documents.ts";
import { Problem } from "./problem.ts";

export type OpenSession = {
  /** The key of the session's row: the SHA-256 of its secret. */
  readonly digest: string;
  /** The id of the session's token; empty for a person who signed in without one. */
  readonly token: string;
  /** The id of the person; empty for a session of a token. */
  readonly user: string;
  readonly expiresAtMs: number;
};

/**
 * The caller of a request: a person's token, a session of such a token, or a run with its own token. The run of a task
 * is also a user in calls that it makes for the task's owner.
 */
export type UserCaller = {
  readonly kind: "user";
  /** The name that events record: the owner of the token, or `task:t12`. */
  readonly authid: string;
  /** The owner of what the caller creates. */
  readonly owner: string;
  /** The id of the user; empty for a call without a token. */
  readonly user: string;
  /** The limits of the caller's token below the rights of its user. */
  readonly limits: readonly TokenLimit[];
  /** The run that makes the call for its task's owner; null for a person. */
  readonly run: TaskRunCaller | null;
  /** The id of the token; empty for a call without a token. */
  readonly token: string;
  /** The ids of the tokens that the caller's token descends from: it ends with each of them. */
  readonly ancestors: readonly string[];
  /** The caller's session; null for a caller that sent the token itself. */
  readonly session: OpenSession | null;
  /** The time at which the token expires; undefined for never. */
  readonly tokenExpiresAtMs: number | undefined;
};

type AnyRunCaller = {
  readonly kind: "run";
  readonly authid: string;
  readonly allocation: string;
  readonly run: number;
  /** The log position at which the run was granted. Its signals are read from that position or later. */
  readonly grantPosition: number;
};

export type TrialRunCaller = AnyRunCaller & {
  readonly task: null;
  readonly experiment: string;
  readonly trial: string;
};

export type TaskRunCaller = AnyRunCaller & {
  readonly task: string;
  /** Returns the user that the run may be. Throws a Problem if it has no such rights, or none any more. */
  readonly asOwner: () => Promise<UserCaller>;
  /** Throws a Problem if the run has ended. */
  readonly requireOpen: () => Promise<void>;
};

export type RunCaller = TrialRunCaller | TaskRunCaller;

export type Caller = UserCaller | RunCaller;

/**
 * Returns the name under which limits count a caller: its user, or its run. Tokens of the service account `local` count
 * each for itself, because all tokens of a cluster without users are its own.
 */
export function countedAs(caller: Caller): string {
  if (caller.kind === "run") return caller.authid;
  if (caller.run !== null) return caller.run.authid;
  const isLocal = caller.user === localUser || caller.user === "";
  return isLocal ? `token-${caller.token}` : `user-${caller.user}`;
}

/** The caller of a call without a token, and of reads that several callers share. */
export const nobody: UserCaller = {
  kind: "user",
  authid: "",
  owner: "",
  user: "",
  limits: [],
  run: null,
  token: "",
  ancestors: [],
  session: null,
  tokenExpiresAtMs: undefined,
};

/** Returns the bucket that limits a caller's rate; null for a caller without a token. */
export function bucketOf(caller: Caller): Bucket | null {
  const name = countedAs(caller);
  if (caller.kind === "run" || caller.run !== null) return { kind: "run", name };
  return caller.user === "" ? null : { kind: "user", name };
}

/** Returns the owner of what the caller creates. */
export const creatorOf = (caller: Caller): string =>
  caller.kind === "user" ? caller.owner : caller.authid;

/**
 * The id of the caller's token: of a session that of its token, and of a run that calls for its task's owner that of
 * the token that started the task. Empty for other runs and for a call without a token.
 */
export const tokenOf = (caller: Caller): string => (caller.kind === "user" ? caller.token : "");

/** The token that made something, empty for a person who signed in, and the tokens that it descends from. */
type MadeBy = { readonly token: string; readonly ancestors: readonly string[] };

/**
 * Whether a caller may use what acts for its owner and was made by a token: a limited token uses what it made itself,
 * and what tokens made that were created with it. Anything else may have more rights than the limited token.
 */
export const mayUseMade = ({ limits, token }: UserCaller, made: MadeBy): boolean =>
  limits.length === 0 || made.token === token || made.ancestors.includes(token);

/** The credentials in a request. A token takes precedence over a session. */
export type Credentials = {
  /** The value of the header Authorization. */
  readonly authorization: string | undefined;
  /** The secret of a session, from its cookie. */
  readonly session: string | undefined;
};

export type CallerLookups = {
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
  readonly grants: RunGrants;
  readonly token: TokenLookup;
  /** Notes that a token was used. */
  readonly used: (token: string) => void;
  readonly session: (secret: string) => Promise<OpenSession | undefined>;
  /** Throws a Problem of 401 if the user is disabled. */
  readonly requireEnabled: (user: string) => Promise<void>;
  readonly ownerRuns: {
    userOf(run: TaskRunCaller): Promise<UserCaller>;
    requireOpen(allocation: string): Promise<void>;
  };
};

export type TokenLookup = (id: string) => Promise<TokenDocument | undefined>;

export function digestOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/**
 * Returns the caller. Throws a Problem of 401 for unknown or expired credentials, and of 410 for a run of a history
 * that the log has lost.
 */
export async function authenticate(
  { authorization, session }: Credentials,
  lookups: CallerLookups,
  nowMs: number,
): Promise<Caller> {
  if (authorization === undefined && session !== undefined) {
    return sessionCaller(session, lookups, nowMs);
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) {
    throw new Problem(401, "no_token", "send a token in the header Authorization: Bearer …");
  }
  if (token.startsWith("ty1.")) return runCaller(token, lookups);
  const caller = await userCaller(token, lookups.token, nowMs);
  await lookups.requireEnabled(caller.user);
  lookups.used(caller.token);
  return caller;
}

async function sessionCaller(
  secret: string,
  lookups: CallerLookups,
  nowMs: number,
): Promise<Caller> {
  const session = await lookups.session(secret);
  if (session === undefined) {
    throw new Problem(401, "session_ended", "this session has ended; sign in again");
  }
  const caller =
    session.user === ""
      ? callerOfToken(await lookups.token(session.token), nowMs)
      : callerOfPerson(session.user);
  await lookups.requireEnabled(caller.user);
  if (caller.token !== "") lookups.used(caller.token);
  return { ...caller, session };
}

/** Returns the caller that a signed-in person is. */
export function callerOfPerson(user: string): UserCaller {
  const authid = authidOf(user);
  return { ...nobody, authid, owner: authid, user };
}

async function runCaller(
  token: string,
  { runTokenKeys, grants, ownerRuns }: CallerLookups,
): Promise<RunCaller> {
  const content = readRunToken(runTokenKeys, token);
  const owner = content === null ? null : ownerOf(content.allocation);
  if (content === null || owner === null) throw invalidToken();
  await grants.require(content);
  const { allocation, grantPosition } = content;
  const run = { kind: "run", authid: `run:${allocation}`, allocation, grantPosition } as const;
  if (owner.task === null) return { ...run, ...owner };
  const ofTask: TaskRunCaller = {
    ...{ ...run, ...owner },
    asOwner: () => ownerRuns.userOf(ofTask),
    requireOpen: () => ownerRuns.requireOpen(allocation),
  };
  return ofTask;
}

/** Returns the trial or the task of a run; null for an allocation that is no run. */
function ownerOf(allocation: string) {
  const ofTrial = parseRunId(allocation);
  if (ofTrial !== null) {
    const { experiment, trial, run } = ofTrial;
    return { task: null, experiment, trial, run };
  }
  return parseTaskRunId(allocation);
}

/**
 * Returns the user that the run of a task is in a call that it may also make as itself. Throws `refusal` if it has no
 * rights as a user.
 */
export async function asUser(run: TaskRunCaller, refusal: Problem): Promise<UserCaller> {
  return run.asOwner().catch((error: unknown): never => {
    throw error instanceof Problem && error.code === "not_for_tasks" ? refusal : error;
  });
}

/**
 * Returns the caller of a call that no run of a task may make. Throws an error for one: the call lacks `for_tasks`,
 * so it was refused before.
 */
export function notOfTask(caller: Caller): UserCaller | TrialRunCaller {
  if (caller.kind === "user" || caller.task === null) return caller;
  throw new Error("a call without for_tasks was admitted for the run of a task");
}

async function userCaller(token: string, lookUp: TokenLookup, nowMs: number): Promise<UserCaller> {
  const given = readApiToken(token);
  if (given === null) throw invalidToken();
  const known = await lookUp(given.id);
  if (known === undefined) throw invalidToken();
  const shown = Buffer.from(digestOfSecret(given.secret), "hex");
  if (!timingSafeEqual(shown, Buffer.from(known.secretDigest, "hex"))) throw invalidToken();
  return callerOfToken(known, nowMs);
}

/** Returns the caller of a token. Throws a Problem of 401 if the token is unknown, revoked or expired. */
export function callerOfToken(known: TokenDocument | undefined, nowMs: number): UserCaller {
  if (known === undefined) throw invalidToken();
  if (known.revoked)
    throw new Problem(
      401,
      "token_revoked",
      "this token was revoked; sign in again, or create a new one",
    );
  const { id, owner, expiresAtMs, ancestors, limits } = known;
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    const expired = new Date(expiresAtMs).toISOString();
    throw new Problem(401, "token_expired", `this token expired at ${expired}; create a new one`);
  }
  const authid = owner === "" ? `token:${id}` : owner;
  return {
    kind: "user",
    authid,
    owner: authid,
    user: userOf(owner),
    limits,
    run: null,
    token: id,
    ancestors,
    session: null,
    tokenExpiresAtMs: expiresAtMs,
  };
}

function invalidToken(): Problem {
  return new Problem(401, "invalid_token", "invalid token: this cluster did not issue it");
}
