/** The NATS user of a program that receives a subscription. */
import { natsUsersOf, renderUser } from "./nats-config.ts";
import { busUserOf } from "./permissions.ts";

export const feedUserOf = (subscription: string): string =>
  busUserOf({ kind: "subscription", subscription });

/** Returns the user of a subscription as an entry of `authorization.users` in a NATS server's configuration. */
export function feedUserConfig(subscription: string, password: string): string {
  const users = natsUsersOf([{ kind: "subscription", subscription }], () => password);
  return users.flatMap(renderUser).join("\n");
}
