import { oidcLimits } from "./limits.ts";

/**
 * Returns the path of the page that a visitor wanted: one of this origin that is a page. Any other text is the start
 * page, so that no link leads elsewhere by a sign-in.
 */
export function ownPage(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > oidcLimits.pageCharactersMax) return "/";
  const own = "http://own.invalid";
  if (!asked.startsWith("/") || !URL.canParse(asked, own)) return "/";
  const { origin, pathname, search, hash } = new URL(asked, own);
  if (origin !== own || pathname.startsWith("//") || /^\/(auth|api)(\/|$)/.test(pathname))
    return "/";
  return `${pathname}${search}${hash}`;
}
