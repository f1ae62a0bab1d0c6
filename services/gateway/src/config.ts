import { parseEnvironment, readEnvironment } from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({
  TRAINYARD_POSTGRES_URL: z.string(),
  TRAINYARD_NATS_URL: z.string(),
  TRAINYARD_NATS_PASSWORD: z.string().optional(),
  TRAINYARD_HTTP_HOST: z.string().default("127.0.0.1"),
  TRAINYARD_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  TRAINYARD_LOG_LEVEL: z.string().default("info"),
  TRAINYARD_BLOB_DIR: z.string(),
  /** Where checkpoints go that the configuration gives no storage. */
  TRAINYARD_CHECKPOINT_DIR: z.string(),
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/),
  TRAINYARD_RUN_TOKEN_KEY_ID: z.string().default("1"),
  /** The file that holds the secret of the first token: issued at start unless it exists already. */
  TRAINYARD_FIRST_TOKEN_FILE: z.string().optional(),
});

export type GatewayConfig = {
  readonly postgresUrl: string;
  readonly nats: { readonly servers: string; readonly password?: string };
  readonly http: { readonly host: string; readonly port: number };
  readonly logLevel: string;
  readonly blobDir: string;
  readonly checkpointDir: string;
  readonly runTokenKeys: ReadonlyMap<string, Buffer>;
  readonly firstTokenFile: string | null;
};

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): GatewayConfig {
  const env = parseEnvironment(schema, environment);
  return {
    postgresUrl: env.TRAINYARD_POSTGRES_URL,
    nats: {
      servers: env.TRAINYARD_NATS_URL,
      ...(env.TRAINYARD_NATS_PASSWORD === undefined
        ? {}
        : { password: env.TRAINYARD_NATS_PASSWORD }),
    },
    http: { host: env.TRAINYARD_HTTP_HOST, port: env.TRAINYARD_HTTP_PORT },
    logLevel: env.TRAINYARD_LOG_LEVEL,
    blobDir: env.TRAINYARD_BLOB_DIR,
    checkpointDir: env.TRAINYARD_CHECKPOINT_DIR,
    runTokenKeys: new Map([
      [env.TRAINYARD_RUN_TOKEN_KEY_ID, Buffer.from(env.TRAINYARD_RUN_TOKEN_KEY, "hex")],
    ]),
    firstTokenFile: env.TRAINYARD_FIRST_TOKEN_FILE ?? null,
  };
}
