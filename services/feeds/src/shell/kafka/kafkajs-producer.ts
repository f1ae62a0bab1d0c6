/**
 * The port to Kafka with kafkajs. It sends each batch once: kafkajs's own retry keeps the answers of brokers by broker,
 * so after a change of leaders it takes messages for stored that were never sent (tulios/kafkajs#1798). After a failure
 * the sink is opened again and sends the events after the last settled place with a new producer.
 */
import { readFileSync } from "node:fs";
import { isIP, connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Logger } from "@trainyard/runtime";
import {
  type ISocketFactory,
  Kafka,
  type KafkaConfig as KafkajsConfig,
  type logCreator,
  logLevel,
  Partitioners,
  type Producer,
} from "kafkajs";
import { feedsLimits } from "../../limits.ts";
import type { KafkaConfig } from "./config.ts";
import { kafkaFault } from "./kafka-fault.ts";
import type { ConnectKafka, KafkaMessage, KafkaProducer } from "./producer.ts";

export function kafkajsProducer(config: KafkaConfig, logger: Logger): ConnectKafka {
  return async (signal) => {
    const sockets = new Sockets();
    signal.addEventListener("abort", sockets.destroy, { once: true });
    try {
      signal.throwIfAborted();
      const producer = new Kafka(settingsOf(config, logger, sockets)).producer({
        createPartitioner: Partitioners.DefaultPartitioner,
        allowAutoTopicCreation: false,
        idempotent: false,
        maxInFlightRequests: 1,
        retry: { retries: 0 },
      });
      await producer.connect();
      return new KafkajsProducer(config, producer, sockets);
    } catch (error) {
      sockets.destroy();
      throw kafkaFault(error, config);
    }
  };
}

class KafkajsProducer implements KafkaProducer {
  readonly #config: KafkaConfig;
  readonly #producer: Producer;
  readonly #sockets: Sockets;

  constructor(config: KafkaConfig, producer: Producer, sockets: Sockets) {
    this.#config = config;
    this.#producer = producer;
    this.#sockets = sockets;
  }

  async send(messages: readonly KafkaMessage[]): Promise<void> {
    try {
      await this.#producer.send({
        topic: this.#config.topic,
        acks: -1,
        messages: messages.map(({ key, headers, value }) => ({ key, headers, value })),
      });
    } catch (error) {
      throw kafkaFault(error, this.#config);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Kafkajs would wait for the answer to a pending request, which may take all of its time.
    this.#sockets.destroy();
    await this.#producer.disconnect();
  }
}

function settingsOf(config: KafkaConfig, logger: Logger, sockets: Sockets): KafkajsConfig {
  const { brokers, sasl } = config;
  return {
    clientId: "trainyard-feeds",
    brokers: [...brokers],
    ...(config.tls === null ? {} : { ssl: tlsOf(config.tls) }),
    ...(sasl === null ? {} : { sasl: saslOf(sasl) }),
    connectionTimeout: feedsLimits.kafkaConnectMs,
    requestTimeout: feedsLimits.kafkaAnswerMs,
    // Each try of a connection takes the next of the brokers.
    retry: { retries: brokers.length - 1, initialRetryTime: 100 },
    socketFactory: sockets.factory,
    logLevel: logLevel.WARN,
    logCreator: logsTo(logger),
  };
}

function saslOf({ mechanism, username, password }: NonNullable<KafkaConfig["sasl"]>) {
  const text = "file" in password ? readFileSync(password.file, "utf8") : password.text;
  const credentials = { username, password: text.replace(/\r?\n$/, "") };
  return { mechanism, ...credentials } as NonNullable<KafkajsConfig["sasl"]>;
}

function tlsOf({ caFile, certFile, keyFile }: NonNullable<KafkaConfig["tls"]>) {
  return {
    ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
    ...(certFile === null ? {} : { cert: readFileSync(certFile) }),
    ...(keyFile === null ? {} : { key: readFileSync(keyFile) }),
  };
}

/**
 * The client's own lines are for the search of a cause only: the failure of a call is logged where it is handled. Of
 * their fields only these are taken, none of which has a credential.
 */
function logsTo(logger: Logger): logCreator {
  return () => (entry) => {
    const { namespace, label, log } = entry;
    const fields = { namespace, label, broker: log["broker"] as unknown, note: log.message };
    logger.debug(fields, "kafka_client");
  };
}

/** The connections of one client, so that they can be closed at once. */
class Sockets {
  readonly #open = new Set<Socket>();
  #isDestroyed = false;

  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    // Kafkajs gives no TLS options for a plain connection, which its types do not say.
    const options = ssl as typeof ssl | undefined;
    const socket =
      options === undefined || options === null
        ? connectTcp({ host, port }, onConnect)
        : connectTls({ host, port, ...serverNameOf(host), ...options }, onConnect);
    socket.setKeepAlive(true, 60_000);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    if (this.#isDestroyed) socket.destroy(closed());
    return socket;
  };

  /** Closes all connections, also those that the client opens from now on. */
  readonly destroy = (): void => {
    this.#isDestroyed = true;
    for (const socket of this.#open) socket.destroy(closed());
  };
}

const closed = (): Error => new Error("the connection was closed by this process");

const serverNameOf = (host: string) => (isIP(host) === 0 ? { servername: host } : {});
