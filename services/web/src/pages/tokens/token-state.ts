type Token = { readonly revoked: boolean; readonly expiresAtMs?: number | undefined };

/** Returns the state of a token: whether it still works. */
export function tokenState(
  { revoked, expiresAtMs }: Token,
  nowMs: number,
): "valid" | "expired" | "revoked" {
  if (revoked) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "valid";
}

/** Returns what limits a token below the rights of its owner; empty for nothing. */
export function limitText(token: {
  readonly role: string;
  readonly workspaces: readonly string[];
}): string {
  const { role, workspaces } = token;
  const places = workspaces.length === 0 ? "" : `in ${workspaces.join(", ")}`;
  return [role, places].filter((part) => part !== "").join(" ");
}

type Session = {
  /** The id of the session's token; empty for a person who signed in without one. */
  readonly token: string;
  readonly expiresAtMs?: number | undefined;
  readonly tokenExpiresAtMs?: number | undefined;
};

/** A lifetime of a new token in seconds; 0 is until the end of its creator, or never. */
export type Lifetime = { readonly title: string; readonly seconds: number };

const restOfSession: Lifetime = { title: "the rest of this session", seconds: 0 };

const short: readonly Lifetime[] = [
  { title: "1 hour", seconds: 3_600 },
  { title: "4 hours", seconds: 14_400 },
];

/** The token of a person does not end with the session, so it may last. */
const long: readonly Lifetime[] = [
  { title: "30 days", seconds: 30 * 86_400 },
  { title: "1 day", seconds: 86_400 },
  { title: "1 year", seconds: 365 * 86_400 },
  { title: "until it is revoked", seconds: 0 },
];

/** The time for which an offered lifetime stays acceptable while the dialog is open. */
const spareMs = 600_000;

/**
 * Returns the lifetimes that the server accepts from a session: a token does not outlive the session of a token that
 * creates it, nor the session's token. The first one is the default.
 */
export function lifetimesOf(session: Session | undefined, nowMs: number): readonly Lifetime[] {
  if (session?.token === "") return long;
  const { expiresAtMs = Infinity, tokenExpiresAtMs = Infinity } = session ?? {};
  const leftMs = Math.min(expiresAtMs, tokenExpiresAtMs) - nowMs - spareMs;
  return [restOfSession, ...short.filter(({ seconds }) => seconds * 1_000 <= leftMs)];
}
