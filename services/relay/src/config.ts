import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  readEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

export type RelayConfig = ConnectionsConfig;

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): RelayConfig {
  return connectionsOf(parseEnvironment(z.object(connectionVariables), environment));
}
