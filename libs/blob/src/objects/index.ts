export { readCredentialsFile } from "./credentials.ts";
export { compareWithFile } from "./files.ts";
export type {
  Claim,
  CopyResult,
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
export { type ObjectStoreProbe, type ProbedAction, probeObjectStore } from "./probe.ts";
