/** The places of trials' TensorBoard files, to which the SDK writes (trainyard.tensorboard). */
import { join } from "node:path";
import {
  checkpointRoot,
  checkpointStorage,
  storeAddress,
  tensorBoardFolder,
} from "@trainyard/blob";
import { recordedConfig, tensorboardStorage } from "@trainyard/experiment-config/recorded";
import { LogIdentity } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";

export type BoardPlace =
  | { readonly kind: "objects" }
  /** A folder below the root of a storage. Training code may write anything below the root. */
  | { readonly kind: "directory"; readonly root: string; readonly below: string }
  | { readonly kind: "unknown"; readonly why: string };

export class BoardPlaces {
  readonly #backend: Backend;
  readonly #checkpointDir: string;
  readonly #identity: LogIdentity;

  constructor(backend: Backend, checkpointDir: string) {
    this.#backend = backend;
    this.#checkpointDir = checkpointDir;
    this.#identity = new LogIdentity(backend.parts.log);
  }

  /** Throws a Problem of 404 for an unknown trial. */
  async of(trial: string): Promise<BoardPlace> {
    const { experiment } = await this.#backend.get("trial", trial);
    const config = recordedConfig(await this.#backend.configOf(experiment));
    const section = tensorboardStorage(config);
    if (storeAddress(section) !== null) return { kind: "objects" };
    const root = checkpointRoot(checkpointStorage(section, this.#checkpointDir));
    const below = join(tensorBoardFolder(await this.#identity.id(), experiment), "trial", trial);
    if (root !== null) return { kind: "directory", root, below };
    return { kind: "unknown", why: "its storage is of a kind that this version does not read" };
  }
}
