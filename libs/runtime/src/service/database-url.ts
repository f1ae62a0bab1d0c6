/** A login of PostgreSQL that is set apart from the URL, so that any character of it needs no escape. */
export type DatabaseLogin = {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
};

/**
 * Returns the URL with this login, which replaces that of the URL; what is undefined stays. Parameters of the query
 * also work for URLs of Unix sockets, which have no place for a user.
 */
export function withLogin(url: string, { user, password }: DatabaseLogin): string {
  const parameters = Object.entries({ user, password }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  if (parameters.length === 0) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${parameters.join("&")}`;
}
