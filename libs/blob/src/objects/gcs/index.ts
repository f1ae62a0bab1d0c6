export type { GcsCredentials, GcsStoreOptions } from "./options.ts";
export { openGcsStore } from "./store.ts";
