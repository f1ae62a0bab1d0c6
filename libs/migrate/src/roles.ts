/** The database roles of services, and their rights in the log. */
import { categoryOwners } from "@trainyard/kernel/services";
import type { LogRoles } from "@trainyard/event-log";

export type DatabaseRole = {
  readonly name: string;
  /** The password; null leaves it unchanged. A role that never had a password cannot log in with one. */
  readonly password: string | null;
  /** The schema that the role owns. */
  readonly schema: string | null;
};

/** The role that owns the log's schema; no service uses it. */
export const migratorRole = "ty_migrator";

/** The database role of a service. */
export function roleOf(service: string): string {
  return `ty_${schemaOf(service)}`;
}

/** Returns the schema with a service's tables. */
export function schemaOf(service: string): string {
  return service.replaceAll("-", "_");
}

export function roleNames(services: readonly string[]): readonly string[] {
  return [migratorRole, ...services.map(roleOf)];
}

/** Returns the roles of the services; `passwords` are by role name. */
export function databaseRoles(
  services: readonly string[],
  passwords: Readonly<Record<string, string>>,
): readonly DatabaseRole[] {
  const password = (role: string): string | null => passwords[role] ?? null;
  return [
    { name: migratorRole, password: password(migratorRole), schema: null },
    ...services.map((service) => ({
      name: roleOf(service),
      password: password(roleOf(service)),
      schema: schemaOf(service),
    })),
  ];
}

/**
 * Returns the rights in the log: each service appends to the streams that it owns and moves the cursor of its name, and
 * all services read.
 */
export function logRoles(services: readonly string[]): LogRoles {
  const owned = Object.entries(categoryOwners).filter(([, owner]) => services.includes(owner));
  return {
    categories: Object.fromEntries(owned.map(([category, owner]) => [category, roleOf(owner)])),
    consumers: Object.fromEntries(services.map((service) => [service, roleOf(service)])),
    readers: services.map(roleOf),
  };
}
