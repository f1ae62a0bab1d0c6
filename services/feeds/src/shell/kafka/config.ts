import { accessSync, constants } from "node:fs";
import { Fault } from "@trainyard/kernel";
import { wrongSettings } from "@trainyard/runtime";
import { z } from "zod";

const mechanisms = ["plain", "scram-sha-256", "scram-sha-512"] as const;

const readableFile = z.string().refine(isReadable, {
  error: "must be a file that this process can read",
});

/** The variables of the sink for Kafka, for the zod schema of the service. */
export const kafkaVariables = {
  /** The addresses of brokers, separated by commas. Without it there is no sink for Kafka. */
  TRAINYARD_FEEDS_KAFKA_BROKERS: z
    .string()
    .regex(/^[A-Za-z0-9._-]+:\d{1,5}(,[A-Za-z0-9._-]+:\d{1,5})*$/, {
      error: "must be HOST:PORT, such as kafka-1:9092; several are separated by commas",
    })
    .optional(),
  TRAINYARD_FEEDS_KAFKA_TOPIC: z
    .string()
    .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/, {
      error: "must be the name of a topic: at most 249 letters, digits, '.', '_' and '-'",
    })
    .optional(),
  TRAINYARD_FEEDS_KAFKA_SASL_MECHANISM: z
    .enum(mechanisms, { error: `must be one of ${mechanisms.join(", ")}` })
    .optional(),
  TRAINYARD_FEEDS_KAFKA_SASL_USERNAME: z.string().min(1).optional(),
  TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD: z.string().min(1).optional(),
  /** The file with the password, instead of the password; an end of line after it does not count. */
  TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD_FILE: readableFile.optional(),
  /** Whether connections use TLS. By default they do if there is a file for it. */
  TRAINYARD_FEEDS_KAFKA_TLS: z.enum(["on", "off"], { error: "must be on or off" }).optional(),
  /** The certificates that may sign the brokers', instead of the public authorities. */
  TRAINYARD_FEEDS_KAFKA_TLS_CA_FILE: readableFile.optional(),
  /** The certificate and key by which the service identifies itself to the brokers. */
  TRAINYARD_FEEDS_KAFKA_TLS_CERT_FILE: readableFile.optional(),
  TRAINYARD_FEEDS_KAFKA_TLS_KEY_FILE: readableFile.optional(),
};

type Environment = z.output<z.ZodObject<typeof kafkaVariables>>;

/** The name of a file, or the text itself. */
export type Password = { readonly file: string } | { readonly text: string };

export type KafkaConfig = {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly sasl: {
    readonly mechanism: (typeof mechanisms)[number];
    readonly username: string;
    readonly password: Password;
  } | null;
  /** The names of files, which are read for each connection, since certificates are renewed. */
  readonly tls: {
    readonly caFile: string | null;
    readonly certFile: string | null;
    readonly keyFile: string | null;
  } | null;
};

/** Returns the settings of the sink; null if it is not set up. Throws a Fault in one sentence. */
export function kafkaOf(env: Environment): KafkaConfig | null {
  const brokers = env.TRAINYARD_FEEDS_KAFKA_BROKERS;
  const topic = env.TRAINYARD_FEEDS_KAFKA_TOPIC;
  if (brokers === undefined) {
    const names = Object.keys(kafkaVariables) as (keyof Environment)[];
    const other = names.find((name) => env[name] !== undefined);
    if (other !== undefined) {
      throw wrong(`${other} is set without TRAINYARD_FEEDS_KAFKA_BROKERS: set both or none`);
    }
    return null;
  }
  if (topic === undefined) {
    throw wrong(
      "TRAINYARD_FEEDS_KAFKA_BROKERS is set without TRAINYARD_FEEDS_KAFKA_TOPIC: set both or none",
    );
  }
  return { brokers: brokers.split(","), topic, sasl: saslOf(env), tls: tlsOf(env) };
}

function saslOf(env: Environment): KafkaConfig["sasl"] {
  const mechanism = env.TRAINYARD_FEEDS_KAFKA_SASL_MECHANISM;
  const username = env.TRAINYARD_FEEDS_KAFKA_SASL_USERNAME;
  const text = env.TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD;
  const file = env.TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD_FILE;
  if (text !== undefined && file !== undefined) {
    throw wrong(
      "TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD and TRAINYARD_FEEDS_KAFKA_SASL_PASSWORD_FILE are both set: set one of them",
    );
  }
  const password = passwordOf(text, file);
  if (mechanism === undefined && username === undefined && password === undefined) return null;
  if (mechanism === undefined || username === undefined || password === undefined) {
    throw wrong(
      "TRAINYARD_FEEDS_KAFKA_SASL_MECHANISM, _USERNAME and _PASSWORD or _PASSWORD_FILE belong together: set all three or none",
    );
  }
  return { mechanism, username, password };
}

function passwordOf(text: string | undefined, file: string | undefined): Password | undefined {
  if (file !== undefined) return { file };
  return text === undefined ? undefined : { text };
}

function tlsOf(env: Environment): KafkaConfig["tls"] {
  const caFile = env.TRAINYARD_FEEDS_KAFKA_TLS_CA_FILE ?? null;
  const certFile = env.TRAINYARD_FEEDS_KAFKA_TLS_CERT_FILE ?? null;
  const keyFile = env.TRAINYARD_FEEDS_KAFKA_TLS_KEY_FILE ?? null;
  if ((certFile === null) !== (keyFile === null)) {
    throw wrong(
      "TRAINYARD_FEEDS_KAFKA_TLS_CERT_FILE and TRAINYARD_FEEDS_KAFKA_TLS_KEY_FILE belong together: set both or none",
    );
  }
  const hasFile = caFile !== null || certFile !== null;
  const { TRAINYARD_FEEDS_KAFKA_TLS: asked = hasFile ? "on" : "off" } = env;
  if (asked === "off" && hasFile) {
    throw wrong(
      "TRAINYARD_FEEDS_KAFKA_TLS is off, but there are files for TLS: remove them or set it to on",
    );
  }
  return asked === "on" ? { caFile, certFile, keyFile } : null;
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function wrong(sentence: string): Fault {
  return new Fault(wrongSettings, `environment variables are wrong: ${sentence}`, {
    retry: "never",
  });
}
