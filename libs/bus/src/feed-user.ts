/** The NATS user of a program that receives a subscription. */
import { renderUser } from "./nats-config.ts";
import { busUserOf, permissionsOf } from "./permissions.ts";

export const feedUserOf = (subscription: string): string =>
  busUserOf({ kind: "subscription", subscription });

/** Returns the user of a subscription as an entry of `authorization.users` in a NATS server's configuration. */
export function feedUserConfig(subscription: string, password: string): string {
  const permissions = permissionsOf({ kind: "subscription", subscription });
  return renderUser({ name: feedUserOf(subscription), password, permissions }).join("\n");
}
