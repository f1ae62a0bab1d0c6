/** The addresses to which events may be sent: public ones, and those of the networks that the operator allows. */
import ipaddr from "ipaddr.js";

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** The kind of an address; null if nothing may be sent to it. */
export type AddressKind = "public" | "allowed" | null;

/** The only part of IPv6 whose addresses are given to networks of the Internet. */
const given6 = ipaddr.IPv6.parseCIDR("2000::/3");

export class Addresses {
  readonly #allowed: readonly Network[];

  /** The networks are CIDRs, separated by commas. Throws a RangeError that names a text which is none. */
  constructor(networks: string) {
    this.#allowed = networks
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")
      .map(networkOf);
  }

  get someAllowed(): boolean {
    return this.#allowed.length > 0;
  }

  /** An IPv4 address in IPv6 counts as the IPv4 address. */
  kindOf(text: string): AddressKind {
    if (!ipaddr.isValid(text)) return null;
    const address = ipaddr.process(text);
    const isAllowed = this.#allowed.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
    if (isAllowed) return "allowed";
    const isGiven = address instanceof ipaddr.IPv4 || address.match(...given6);
    return isGiven && address.range() === "unicast" ? "public" : null;
  }
}

function networkOf(text: string): Network {
  try {
    return ipaddr.parseCIDR(text);
  } catch (cause) {
    const message = `"${text}" is not a network such as 10.1.0.0/16 or fd00::/8`;
    throw new RangeError(message, { cause });
  }
}

/** Returns the address that a URL's host is, without brackets; null for a name. */
export function literalOf(hostname: string): string | null {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : null;
}
