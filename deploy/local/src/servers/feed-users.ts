/**
 * The NATS users of subscriptions. The service feeds writes them into a file, and the supervisor gives them to the
 * server, which reads its configuration again without closing the connections of others.
 */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { type NatsUser, natsUsersOf } from "@trainyard/bus/server";
import { z } from "zod";

const fileSchema = z.array(z.object({ subscription: z.string(), password: z.string() }));

/** Returns the users in the file; none without a file, or if it cannot be read. */
export function feedUsers(file: string): readonly NatsUser[] {
  if (!existsSync(file)) return [];
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8"))).flatMap(userOf);
  } catch {
    return []; // The service writes the file again when it starts.
  }
}

function userOf({ subscription, password }: z.infer<typeof fileSchema>[number]) {
  return natsUsersOf([{ kind: "subscription", subscription }], () => password);
}

/** Calls back after each change of the file, until the signal aborts. */
export function watchFeedUsers(file: string, changed: () => void, signal: AbortSignal): void {
  const name = basename(file);
  watch(dirname(file), { signal, persistent: false }, (_event, path) => {
    if (path === name) changed();
  }).on("error", () => {}); // Without a watch the users are read at the server's next start.
}
