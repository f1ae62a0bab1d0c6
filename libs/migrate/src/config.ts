import { services } from "@trainyard/kernel/services";
import { parseEnvironment, withLogin } from "@trainyard/runtime";
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
  TRAINYARD_POSTGRES_ADMIN_USER: z.string().min(1).optional(),
  TRAINYARD_POSTGRES_ADMIN_PASSWORD: z.string().min(1).optional(),
  TRAINYARD_POSTGRES_WAIT_SECONDS: z.coerce.number().min(0).max(86_400).default(60),
});

export type MigrateConfig = DatabaseOptions & {
  /** How long PostgreSQL may be away or starting. */
  readonly waitMs: number;
};

export function parseConfig(environment: Readonly<Record<string, string>>): MigrateConfig {
  const env = parseEnvironment(schema, environment);
  const adminUrl = withLogin(env.TRAINYARD_POSTGRES_ADMIN_URL, {
    user: env.TRAINYARD_POSTGRES_ADMIN_USER,
    password: env.TRAINYARD_POSTGRES_ADMIN_PASSWORD,
  });
  const passwords = [...roleOfVariable].flatMap(([variable, role]) => {
    const password = environment[variable];
    return password === undefined || password === "" ? [] : [[role, password] as const];
  });
  const names = services.map(({ name }) => name);
  const waitMs = env.TRAINYARD_POSTGRES_WAIT_SECONDS * 1_000;
  return { adminUrl, services: names, passwords: Object.fromEntries(passwords), waitMs };
}
