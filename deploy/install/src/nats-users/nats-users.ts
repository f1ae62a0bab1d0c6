/** The users of nats-server, whose passwords are variables of the server's environment. */
import { busPrincipals, busUserOf, natsUsersOf, renderAuthorization } from "@trainyard/bus/server";
import { Fault } from "@trainyard/kernel";
import { services } from "@trainyard/kernel/services";

/** Returns the variable with the password of a user: checkpoint-gc has TRAINYARD_NATS_CHECKPOINT_GC. */
export function passwordVariable(user: string): string {
  return `TRAINYARD_NATS_${user.replaceAll(/[^A-Za-z0-9]/g, "_").toUpperCase()}`;
}

/** Returns the part of nats-server's configuration with the users. Throws a Fault if two share a variable. */
export function natsUsersText(
  agents: readonly string[],
  subscriptions: readonly string[] = [],
): string {
  const principals = busPrincipals({
    services: services.map(({ name }) => name),
    agents: [...new Set(agents)],
    subscriptions: [...new Set(subscriptions)],
  });
  const users = principals.map(busUserOf);
  for (const [variable, sharing] of Map.groupBy(users, passwordVariable)) {
    if (sharing.length === 1) continue;
    const told = `the users ${sharing.join(" and ")} would share the variable ${variable}: rename one of them`;
    throw new Fault("shared_variable", told, { retry: "never" });
  }
  const head = [
    "# Users of Trainyard. nats-server reads their passwords from its environment:",
    ...users.map((user) => `#   ${passwordVariable(user)}`),
    "",
  ];
  const rendered = renderAuthorization(
    natsUsersOf(principals, (user) => ({ variable: passwordVariable(user) })),
  );
  return `${head.join("\n")}${rendered}`;
}
