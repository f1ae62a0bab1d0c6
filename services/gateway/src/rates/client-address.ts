/** The network addresses of clients, also of those behind proxies. */
import ipaddr from "ipaddr.js";
import { rateLimits } from "./limits.ts";

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

export class TrustedProxies {
  readonly #networks: readonly Network[];

  /** `networks` are CIDRs or single addresses, separated by commas. Throws an Error for any other text. */
  constructor(networks: string) {
    this.#networks = networks
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")
      .map((text) => (text.includes("/") ? ipaddr.parseCIDR(text) : singleAddress(text)));
  }

  /**
   * Returns the address of a request's client: the last one in `X-Forwarded-For` that no trusted proxy has. Each proxy
   * appends the address that it was called from, so those before an untrusted one may be made up.
   */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    let client = peer;
    const named = (forwardedFor ?? "").split(",").map((text) => withoutPort(text.trim()));
    for (const next of named.toReversed()) {
      if (!this.#has(client) || !ipaddr.isValid(next)) break;
      client = next;
    }
    return client;
  }

  #has(text: string): boolean {
    if (this.#networks.length === 0 || !ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.#networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  }
}

/** Returns an address without the port that proxies such as Azure's write behind it. */
function withoutPort(text: string): string {
  const [, inBrackets, ofIpv4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  return inBrackets ?? ofIpv4 ?? text;
}

/** Returns what counts as one client: an address of IPv4, and the /64 of one of IPv6. */
export function siteOf(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toString()}/${rateLimits.siteBits}`,
  ).toString();
}

function singleAddress(text: string): Network {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
