import { z } from "zod";
import { Addresses } from "./addresses.ts";

/** The variables of the way out, for the zod schema of the service. */
export const sendingVariables = {
  /** The networks other than the public one to which webhooks may be sent, over http too: CIDRs separated by commas. */
  TRAINYARD_FEEDS_ALLOWED_NETWORKS: z.string().default("").refine(isListOfNetworks, {
    error: "must be networks such as 10.1.0.0/16, separated by commas",
  }),
  /** The HTTP proxy through which all webhooks leave: http://HOST:PORT, also with a user and password. */
  TRAINYARD_FEEDS_PROXY: z
    .url({ protocol: /^http$/, error: "must be http://HOST:PORT" })
    .optional(),
};

export type SendingConfig = { readonly addresses: Addresses; readonly proxy: URL | null };

export function sendingOf(env: z.infer<z.ZodObject<typeof sendingVariables>>): SendingConfig {
  const { TRAINYARD_FEEDS_ALLOWED_NETWORKS: networks, TRAINYARD_FEEDS_PROXY: proxy } = env;
  return {
    addresses: new Addresses(networks),
    proxy: proxy === undefined ? null : new URL(proxy),
  };
}

function isListOfNetworks(text: string): boolean {
  try {
    new Addresses(text);
    return true;
  } catch {
    return false; // The error names the text that is no network.
  }
}
