import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  readEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({ ...connectionVariables });

export type LogsConfig = ConnectionsConfig;

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): LogsConfig {
  return connectionsOf(parseEnvironment(schema, environment));
}
