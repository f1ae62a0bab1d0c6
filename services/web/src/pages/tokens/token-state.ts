type Token = { readonly revoked: boolean; readonly expiresAtMs?: number | undefined };

/** Returns the state of a token: whether it still works. */
export function tokenState(
  { revoked, expiresAtMs }: Token,
  nowMs: number,
): "valid" | "expired" | "revoked" {
  if (revoked) return "revoked";
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? "expired" : "valid";
}

/** Lifetimes of a new token, in seconds; 0 is forever. */
export const lifetimes = [
  { title: "1 day", seconds: 86_400 },
  { title: "30 days", seconds: 2_592_000 },
  { title: "1 year", seconds: 31_536_000 },
  { title: "until it is revoked", seconds: 0 },
] as const;
