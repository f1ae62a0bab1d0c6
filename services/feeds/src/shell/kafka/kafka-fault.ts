/** Says in one sentence what is wrong with the way to Kafka, and what to do. */
import { Fault, isFault } from "@trainyard/kernel";
import type { KafkaConfig } from "./config.ts";

/** The fields of errors of kafkajs, Node and OpenSSL that distinguish them. */
type Failure = {
  readonly name?: string;
  readonly message?: string;
  /** The name of an error that a broker answers. */
  readonly type?: string;
  /** The code of a failed connection. */
  readonly code?: string | number;
  readonly broker?: string;
  readonly cause?: unknown;
};

export function kafkaFault(error: unknown, config: KafkaConfig): Fault {
  if (isFault(error)) return error;
  const [code, sentence] = explained(chainOf(error), config);
  return new Fault(code, sentence, { retry: "later", cause: error });
}

function explained(failures: readonly Failure[], config: KafkaConfig): readonly [string, string] {
  const { topic, brokers } = config;
  const has = (...names: readonly string[]): Failure | undefined =>
    failures.find(({ name, type, code }) =>
      [name, type, code].some((one) => typeof one === "string" && names.includes(one)),
    );
  if (has("UNKNOWN_TOPIC_OR_PARTITION") !== undefined) {
    return [
      "kafka_no_topic",
      `Kafka has no topic "${topic}": create it, or correct TRAINYARD_FEEDS_KAFKA_TOPIC`,
    ];
  }
  if (has("TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED") !== undefined) {
    return [
      "kafka_forbidden",
      `Kafka does not let this user write to the topic "${topic}": grant it Describe and Write`,
    ];
  }
  if (has("KafkaJSSASLAuthenticationError", "SASL_AUTHENTICATION_FAILED") !== undefined) {
    return [
      "kafka_login",
      "Kafka refuses the login: correct TRAINYARD_FEEDS_KAFKA_SASL_MECHANISM, _USERNAME and _PASSWORD or _PASSWORD_FILE",
    ];
  }
  if (has("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE") !== undefined) {
    return [
      "kafka_too_large",
      `Kafka refuses a batch of 900 kB for the topic "${topic}": raise its max.message.bytes to the default of 1 MiB`,
    ];
  }
  const tls = failures.find(({ code }) => typeof code === "string" && code in tlsSentences);
  const where = failures.find(({ broker }) => broker !== undefined)?.broker ?? brokers.join(", ");
  if (typeof tls?.code === "string") {
    return ["kafka_tls", `The certificate of the Kafka broker ${where} ${tlsSentences[tls.code]}`];
  }
  return [
    "kafka_failed",
    `Kafka at ${where} failed, and is tried again: ${failures.at(-1)?.message ?? "unknown"}`,
  ];
}

const otherAuthority =
  "is not signed by a known authority: name the right one by TRAINYARD_FEEDS_KAFKA_TLS_CA_FILE";

const tlsSentences: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "has expired: renew it",
  CERT_NOT_YET_VALID: "is not valid yet: correct the clock of this host or the certificate",
  DEPTH_ZERO_SELF_SIGNED_CERT: otherAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: otherAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: otherAuthority,
  UNABLE_TO_GET_ISSUER_CERT: otherAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: otherAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID:
    "names another host: address the brokers by the names in their certificates",
};

/** Returns the error and its causes, outermost first. */
function chainOf(error: unknown): readonly Failure[] {
  const chain: Failure[] = [];
  for (let one: unknown = error; one instanceof Error && chain.length < 8; one = one.cause) {
    chain.push(one as Failure);
  }
  return chain.length > 0 ? chain : [{ message: String(error) }];
}
