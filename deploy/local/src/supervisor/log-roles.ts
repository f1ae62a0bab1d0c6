import { categoryOwners } from "@trainyard/contracts";
import type { LogRoles } from "@trainyard/event-log";
import type { DatabaseRole } from "../servers/database.ts";
import type { Secrets } from "../home/secrets.ts";
import { roleOf, type ServiceEntry, schemaOf } from "./services.ts";

/** Owns the log's schema; nobody serves with it. */
export const migratorRole = "ty_migrator";

export function roleNames(services: readonly ServiceEntry[]): readonly string[] {
  return [migratorRole, ...services.map((service) => roleOf(service.name))];
}

export function databaseRoles(
  services: readonly ServiceEntry[],
  secrets: Secrets,
): readonly DatabaseRole[] {
  const password = (role: string): string => secrets.postgresPasswords[role] ?? "";
  return [
    { name: migratorRole, password: password(migratorRole), schema: null },
    ...services.map(({ name }) => ({
      name: roleOf(name),
      password: password(roleOf(name)),
      schema: schemaOf(name),
    })),
  ];
}

/** Each service writes the streams that it owns and moves the cursor of its own name; all of them read. */
export function logRoles(services: readonly ServiceEntry[]): LogRoles {
  const names = new Set(services.map((service) => service.name));
  const owned = Object.entries(categoryOwners).filter(([, owner]) => names.has(owner));
  return {
    categories: Object.fromEntries(owned.map(([category, owner]) => [category, roleOf(owner)])),
    consumers: Object.fromEntries([...names].map((name) => [name, roleOf(name)])),
    readers: [...names].map(roleOf),
  };
}
