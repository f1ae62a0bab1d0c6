import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";
import { type SendingConfig, sendingOf, sendingVariables } from "./shell/webhooks/send/config.ts";
import { type KafkaConfig, kafkaOf, kafkaVariables } from "./shell/kafka/config.ts";

const schema = z.object({
  ...connectionVariables,
  ...kafkaVariables,
  ...sendingVariables,
  /** The file in which the embedded cluster finds the NATS users of subscriptions. */
  TRAINYARD_FEEDS_NATS_USERS_FILE: z.string().min(1).optional(),
});

export type FeedsConfig = ConnectionsConfig & {
  /** Null without Kafka. */
  readonly kafka: KafkaConfig | null;
  readonly sending: SendingConfig;
  readonly natsUsersFile: string | null;
};

export function parseConfig(environment: Readonly<Record<string, string>>): FeedsConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    kafka: kafkaOf(env),
    sending: sendingOf(env),
    natsUsersFile: env.TRAINYARD_FEEDS_NATS_USERS_FILE ?? null,
  };
}
