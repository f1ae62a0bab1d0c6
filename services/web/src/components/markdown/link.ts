/**
 * Returns the address of a note's link if it is safe: other sites by http, https or mail, and pages of this site. Null
 * for any other, such as `javascript:`, `data:`, or an address that browsers interpret in another way.
 */
export function safeHref(href: string): string | null {
  // Browsers drop control characters and spaces from addresses: "java\nscript:" would be "javascript:".
  if (/[\p{Cc}\s\\]/u.test(href)) return null;
  if (/^(https?:\/\/|mailto:)[^/]/i.test(href)) return href;
  return /^(\/(?!\/)|#)/.test(href) ? href : null;
}
