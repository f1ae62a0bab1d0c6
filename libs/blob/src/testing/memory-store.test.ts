import { describe } from "vitest";
import { blobStoreContract } from "../contract.ts";
import { createMemoryBlobStore } from "./memory-store.ts";

describe("memory", () => {
  blobStoreContract(async () => ({
    store: createMemoryBlobStore(),
    [Symbol.asyncDispose]: async () => {},
  }));
});
