import { services } from "@trainyard/kernel/services";
import { parseEnvironment } from "@trainyard/runtime";
import { z } from "zod";
import type { DatabaseOptions } from "./database.ts";
import { migratorRole, roleOf, schemaOf } from "./roles.ts";

const passwordVariable = (service: string): string =>
  `TRAINYARD_POSTGRES_PASSWORD_${schemaOf(service).toUpperCase()}`;

const roleOfVariable: ReadonlyMap<string, string> = new Map([
  [passwordVariable("migrator"), migratorRole],
  ...services.map(({ name: service }) => [passwordVariable(service), roleOf(service)] as const),
]);

const schema = z.object({
  TRAINYARD_POSTGRES_ADMIN_URL: z.url({
    protocol: /^postgres(ql)?$/,
    error: "must be postgres://ADMIN:PASSWORD@HOST:PORT/DATABASE",
  }),
});

export function parseConfig(environment: Readonly<Record<string, string>>): DatabaseOptions {
  const { TRAINYARD_POSTGRES_ADMIN_URL: adminUrl } = parseEnvironment(schema, environment);
  const passwords = [...roleOfVariable].flatMap(([variable, role]) => {
    const password = environment[variable];
    return password === undefined || password === "" ? [] : [[role, password] as const];
  });
  const names = services.map(({ name }) => name);
  return { adminUrl, services: names, passwords: Object.fromEntries(passwords) };
}
