/** A path of these pages, so that a link to the sign-in page leads nowhere else; "/" for anything that is none. */
export function backTo(path: string | undefined): string {
  const isOwn = path !== undefined && /^\/(?![/\\])/.test(path) && !path.startsWith("/sign-in");
  return isOwn ? path : "/";
}
