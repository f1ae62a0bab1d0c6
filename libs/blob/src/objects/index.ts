export { compareWithFile } from "./files.ts";
export { MemoryBucket, type MemoryStoreOptions, openMemoryStore } from "./memory.ts";
export type {
  FileDigests,
  ListedObject,
  ObjectChecksum,
  ObjectContent,
  ObjectHead,
  ObjectStore,
  PartDigests,
  PlannedPart,
  PlannedRequest,
  UploadPlan,
} from "./port.ts";
