export { createMemoryLog, type MemoryLog, type MemoryLogOptions } from "./memory/memory-log.ts";
export {
  ensureRoles,
  openLogDatabase,
  openTestDatabase,
  type TestDatabase,
  withClient,
} from "./test-database.ts";
export { copyOfVersions } from "./log-versions.ts";
