import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";
import { type KafkaConfig, kafkaOf, kafkaVariables } from "./shell/kafka/config.ts";

const schema = z.object({ ...connectionVariables, ...kafkaVariables });

export type FeedsConfig = ConnectionsConfig & {
  /** Null without Kafka. */
  readonly kafka: KafkaConfig | null;
};

export function parseConfig(environment: Readonly<Record<string, string>>): FeedsConfig {
  const env = parseEnvironment(schema, environment);
  return { ...connectionsOf(env), kafka: kafkaOf(env) };
}
