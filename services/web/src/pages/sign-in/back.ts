/**
 * Returns a path on this site, so that a link to the sign-in page cannot redirect elsewhere; "/" for any other text.
 */
export function backTo(path: string | undefined): string {
  const isOwn = path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith("/sign-in");
  return isOwn ? path : "/";
}
