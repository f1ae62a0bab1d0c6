/** The database roles of services, and what each of them may do in the log. */
import { categoryOwners } from "@trainyard/contracts";
import type { LogRoles } from "@trainyard/event-log";

export type DatabaseRole = {
  readonly name: string;
  /** Null leaves the password as it is; a role that never had one cannot log in by password. */
  readonly password: string | null;
  /** The schema that the role owns. */
  readonly schema: string | null;
};

/** Owns the log's schema; nobody serves with it. */
export const migratorRole = "ty_migrator";

/** The database role of a service. */
export function roleOf(service: string): string {
  return `ty_${schemaOf(service)}`;
}

/** The schema with a service's own tables. */
export function schemaOf(service: string): string {
  return service.replaceAll("-", "_");
}

export function roleNames(services: readonly string[]): readonly string[] {
  return [migratorRole, ...services.map(roleOf)];
}

/** `passwords` are by role. */
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

/** Each service appends to the streams that it owns and moves the cursor of its own name; all of them read. */
export function logRoles(services: readonly string[]): LogRoles {
  const owned = Object.entries(categoryOwners).filter(([, owner]) => services.includes(owner));
  return {
    categories: Object.fromEntries(owned.map(([category, owner]) => [category, roleOf(owner)])),
    consumers: Object.fromEntries(services.map((service) => [service, roleOf(service)])),
    readers: services.map(roleOf),
  };
}
