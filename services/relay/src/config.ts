import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

export type RelayConfig = ConnectionsConfig;

export function parseConfig(environment: Readonly<Record<string, string>>): RelayConfig {
  return connectionsOf(parseEnvironment(z.object(connectionVariables), environment));
}
