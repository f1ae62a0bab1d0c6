/**
 * The warning about a checkpoint that the experiment's runs may not be able to read: agents may give each experiment a
 * Unix user of its own, and only that user and the storage's group can read the files in a directory. Whether the
 * runs get that group is a setting of the agents, which the platform does not know.
 */
import { storeAddress } from "@trainyard/blob";
import { decodeEvent } from "@trainyard/contracts";
import { type NormalisedConfig, namedSource } from "@trainyard/experiment-config";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { Backend } from "../../backend.ts";

/** A run's start is among the first events of its allocation: it is queued, explained a few times, and granted. */
const eventsRead = 100;

export async function sourceUserWarnings(
  backend: Backend,
  config: NormalisedConfig,
): Promise<readonly string[]> {
  const named = namedSource(config);
  const found = named === null ? undefined : await backend.find("checkpoint", named.checkpoint);
  // A folder that a person uploaded belongs to the registry's user.
  if (found === undefined || found.uploadedBy !== undefined) return [];
  const source = await backend.configOf(found.experiment);
  if (source === undefined) return [];
  if (storeAddress(recordedConfig(source).checkpoint_storage) !== null) return [];
  const user = await userOf(backend, `${found.trial}#${found.run}`);
  if (user === undefined) return [];
  return [
    `searcher.source_checkpoint_uuid is ${found.uuid}, whose files belong to the user ${user} of experiment ${found.experiment}: runs of this experiment have another user, and can read them only if TRAINYARD_AGENT_USER_GROUPS of the agents names the storage's group (docs/operate/run-users.md)`,
  ];
}

/** The Unix user of a run's processes; undefined for the agent's. */
async function userOf(backend: Backend, run: string): Promise<number | undefined> {
  const events = await backend.parts.log.read(`allocation-${run}`, 0, eventsRead);
  for (const event of events.map(decodeEvent)) {
    if (event?.type === "AllocationStarted") return event.data.starts[0]?.userId;
  }
  return undefined;
}
