type Token = { readonly revoked: boolean; readonly expiresAtMs?: number | undefined };

/** Returns the state of a token: whether it still works. */
export function tokenState(
  { revoked, expiresAtMs }: Token,
  nowMs: number,
): "valid" | "expired" | "revoked" {
  if (revoked) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "valid";
}

type Session = {
  readonly expiresAtMs?: number | undefined;
  readonly tokenExpiresAtMs?: number | undefined;
};

/** A lifetime of a new token in seconds; 0 is until the end of its creator. */
export type Lifetime = { readonly title: string; readonly seconds: number };

const restOfSession: Lifetime = { title: "the rest of this session", seconds: 0 };

const fixed: readonly Lifetime[] = [
  { title: "1 hour", seconds: 3_600 },
  { title: "4 hours", seconds: 14_400 },
];

/** The time for which an offered lifetime stays acceptable while the dialog is open. */
const spareMs = 600_000;

/**
 * Returns the lifetimes that the server accepts from a session: a token does not outlive the session that creates it,
 * nor the session's token.
 */
export function lifetimesOf(session: Session | undefined, nowMs: number): readonly Lifetime[] {
  const { expiresAtMs = Infinity, tokenExpiresAtMs = Infinity } = session ?? {};
  const leftMs = Math.min(expiresAtMs, tokenExpiresAtMs) - nowMs - spareMs;
  return [restOfSession, ...fixed.filter(({ seconds }) => seconds * 1_000 <= leftMs)];
}
