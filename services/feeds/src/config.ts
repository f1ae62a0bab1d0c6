import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object(connectionVariables);

export type FeedsConfig = ConnectionsConfig;

export function parseConfig(environment: Readonly<Record<string, string>>): FeedsConfig {
  return connectionsOf(parseEnvironment(schema, environment));
}
