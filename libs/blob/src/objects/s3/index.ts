export type { S3Credentials, S3StoreOptions } from "./options.ts";
export { openS3Store } from "./store.ts";
