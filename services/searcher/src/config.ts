import { parseEnvironment, readEnvironment } from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({
  TRAINYARD_POSTGRES_URL: z.string(),
  TRAINYARD_NATS_URL: z.string(),
  TRAINYARD_NATS_PASSWORD: z.string().optional(),
  TRAINYARD_HTTP_HOST: z.string().default("127.0.0.1"),
  TRAINYARD_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  TRAINYARD_LOG_LEVEL: z.string().default("info"),
});

export type SearcherConfig = {
  readonly postgresUrl: string;
  readonly nats: { readonly servers: string; readonly password?: string };
  readonly http: { readonly host: string; readonly port: number };
  readonly logLevel: string;
};

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): SearcherConfig {
  const env = parseEnvironment(schema, environment);
  const password = env.TRAINYARD_NATS_PASSWORD;
  return {
    postgresUrl: env.TRAINYARD_POSTGRES_URL,
    nats: { servers: env.TRAINYARD_NATS_URL, ...(password === undefined ? {} : { password }) },
    http: { host: env.TRAINYARD_HTTP_HOST, port: env.TRAINYARD_HTTP_PORT },
    logLevel: env.TRAINYARD_LOG_LEVEL,
  };
}
