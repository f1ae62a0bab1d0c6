import { systemClock } from "@trainyard/kernel/system-clock";
import { describe } from "vitest";
import { blobStoreContract } from "./contract.ts";
import { createMemoryBlobStore } from "./memory-store.ts";

describe("memory", () => {
  blobStoreContract(async () => ({
    store: createMemoryBlobStore(systemClock),
    [Symbol.asyncDispose]: async () => {},
  }));
});
