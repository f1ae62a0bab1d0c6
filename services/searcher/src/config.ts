import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object(connectionVariables);

export type SearcherConfig = ConnectionsConfig;

export function parseConfig(environment: Readonly<Record<string, string>>): SearcherConfig {
  return connectionsOf(parseEnvironment(schema, environment));
}
