export { type BlobPlace, blobPlace } from "./blob-place.ts";
export { BrakedDisk } from "./braked-disk.ts";
export {
  type Adoption,
  checkpointFolder,
  checkpointRoot,
  checkpointStorage,
  removeCheckpointFiles,
  removeCheckpointFolder,
  storageOfCheckpoint,
  storageStreamId,
} from "./checkpoint-folder.ts";
export { type CodeFile, codeFile, codeFiles } from "./code-files.ts";
export type { Comparison, Difference, ExpectedFile, KnownDigest } from "./compare-files.ts";
export { type Copied, copyBlobs } from "./copy-blobs.ts";
export { directoryDisk } from "./directory-disk.ts";
export { openDirectoryBlobStore } from "./directory-store.ts";
export { globMatcher, problemOfGlob } from "./glob.ts";
export { refusalOfModelCode } from "./model-code.ts";
export {
  isStorageId,
  type LogEvent,
  type SeenStorage,
  type StorageMark,
  storageMarkerName,
  type StorageOwner,
} from "./marker-text.ts";
export {
  checkpointKey,
  markStore,
  problemOfSeenStore,
  problemOfStore,
  removeCheckpointObjects,
  removeMatchingObjects,
  seenStore,
  writeStoreMarker,
} from "./objects/checkpoint-objects.ts";
export { compareWithFile } from "./objects/files.ts";
export type {
  Claim,
  CopyResult,
  FileDigests,
  ObjectHead,
  ObjectStore,
  PlannedRequest,
} from "./objects/port.ts";
export {
  brakedKinds,
  storageFaults,
  StoreBrake,
  type StoreBrakeSettings,
} from "./objects/store-brake.ts";
export { storeReason } from "./objects/store-reason.ts";
export { Stores, type StoresSettings } from "./objects/stores.ts";
export { openBlobStore, openObjectBlobs } from "./open-blob-store.ts";
export { type BlobContent, type BlobStat, type BlobStore, isBlobKey } from "./port.ts";
export { ProcessDisk } from "./process-disk.ts";
export {
  adoptCommand,
  type MarkedPlace,
  markedPlace,
  type OwnLog,
  StorageClaims,
  storageRoot,
} from "./storage-claims.ts";
export type { Removed } from "./remove-below.ts";
export type { OpenedFile, StorageDisk } from "./storage-disk.ts";
export type { CheckpointStorageSection } from "./storage-kind.ts";
export { storageKinds, storeSettings } from "./storage-kinds.ts";
export {
  markStorage,
  problemOfMarker,
  problemOfStorage,
  readStorageMarker,
  writeStorageMarker,
} from "./storage-marker.ts";
export { sectionOfAddress, storeAddress, withoutEndpoint } from "./store-address.ts";
export {
  removeTensorBoardFolder,
  removeTensorBoardObjects,
  tensorBoardFolder,
} from "./tensorboard-folder.ts";
