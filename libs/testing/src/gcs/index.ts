export type { CommandedFailure, FailureRule } from "../http/commanded.ts";
export { type GcsAccount, type GcsAction, newAccount } from "./authorise.ts";
export { GcsServer, type GcsServed, type GcsServerOptions } from "./server.ts";
