export { ensureDatabase, prepareDatabase } from "./database.ts";
export { type DatabaseRole, roleNames, roleOf } from "./roles.ts";
