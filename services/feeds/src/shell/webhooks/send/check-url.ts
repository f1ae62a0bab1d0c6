import { type Addresses, literalOf } from "./addresses.ts";

/**
 * Returns why events may not be sent to a URL, in one sentence that does not repeat it; null if they may. A name is
 * checked again with each request, by the address that it then has.
 */
export function urlProblem(addresses: Addresses, text: string): string | null {
  if (!URL.canParse(text)) return "the URL is not valid: it begins with https:// and a host";
  const { protocol, username, password, hostname } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return "the URL must begin with https://";
  if (username !== "" || password !== "") {
    return "the URL must have no user and password: send them as a header";
  }
  if (protocol === "http:" && !addresses.someAllowed) {
    return "the URL must begin with https://: http is for networks in TRAINYARD_FEEDS_ALLOWED_NETWORKS";
  }
  const literal = literalOf(hostname);
  const kind = literal === null ? "public" : addresses.kindOf(literal);
  if (kind === null || (literal !== null && protocol === "http:" && kind !== "allowed")) {
    return "the URL's host is in a network that events are not sent to: an operator may add it to TRAINYARD_FEEDS_ALLOWED_NETWORKS";
  }
  return null;
}
