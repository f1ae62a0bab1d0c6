export { openHangingDisk } from "./hanging-disk.ts";
export { MemoryBucket, type MemoryStoreOptions, openMemoryStore } from "./memory-objects.ts";
export { createMemoryBlobStore } from "./memory-store.ts";
