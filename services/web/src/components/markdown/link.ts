/**
 * The address that a link of a note leads to: other sites by http, https or mail, and pages of this one. Null for any
 * other, such as `javascript:`, `data:` or an address that a browser would complete in another way than it reads.
 */
export function safeHref(href: string): string | null {
  // Browsers drop control characters and spaces from addresses: "java\nscript:" would be "javascript:".
  if (/[\p{Cc}\s\\]/u.test(href)) return null;
  if (/^(https?:\/\/|mailto:)[^/]/i.test(href)) return href;
  return /^(\/(?!\/)|#)/.test(href) ? href : null;
}
