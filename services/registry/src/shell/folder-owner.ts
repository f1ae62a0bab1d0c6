/**
 * The user that owns the folder of a checkpoint. Where runs have users of their own, a run could otherwise declare the
 * folder that another experiment's run is writing, and have its files cleared. Without such users all runs are one
 * user, and nothing is compared.
 */
import type { StorageDisk } from "@trainyard/blob";
import { type Rejection, reject, streamName } from "@trainyard/kernel";
import type { Executor } from "@trainyard/runtime";
import { type Maker, makerOf, runOf } from "../core/maker.ts";
import { runUsers } from "../streams.ts";

type Deps = {
  readonly executor: Pick<Executor, "cache">;
  readonly disk: Pick<StorageDisk, "ownerOf">;
};

type Writer = Maker & { readonly checkpoint: string };

/**
 * Returns why a run may not have the folder below the root; null if it may, and if this host does not see the folder.
 */
export async function refusalOfFolder(
  { executor, disk }: Deps,
  root: string,
  writer: Writer,
): Promise<Rejection | null> {
  // A person's folder is written by the registry or a client, not by a run.
  if (makerOf(writer) === "") return null;
  const { checkpoint } = writer;
  const allocation = runOf(writer);
  // The cached state of another service's stream may be stale.
  executor.cache.forget(streamName(runUsers.category, allocation));
  const users = (await executor.cache.load(runUsers, allocation)).state;
  if (users.length === 0) return null;
  const owner = await disk.ownerOf(root, checkpoint);
  if (owner === null || users.includes(owner)) return null;
  const detail = `the folder of checkpoint ${checkpoint} belongs to user ${owner}, and run ${allocation} has user ${users.join(" or ")}: choose another id`;
  return reject("not_your_folder", detail);
}
