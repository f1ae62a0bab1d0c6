import process from "node:process";
import { parseArgs } from "node:util";
import { natsUsersText } from "./nats-users.ts";

/** Prints the users of nats-server for all services and the named agents and subscriptions. */
export async function natsUsers(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      agent: { type: "string", multiple: true, default: [] },
      subscription: { type: "string", multiple: true, default: [] },
    },
  });
  process.stdout.write(natsUsersText(values.agent, values.subscription));
  return 0;
}
