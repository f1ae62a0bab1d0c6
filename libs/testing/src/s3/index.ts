export type { CommandedFailure, FailureRule } from "../http/commanded.ts";
export type { S3Action, S3User } from "./authorise.ts";
export { S3Server, type S3Served, type S3ServerOptions, testUser } from "./server.ts";
