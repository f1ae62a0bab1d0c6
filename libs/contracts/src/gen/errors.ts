// Written by npm run generate.
export * from "./google/rpc/error_details_pb.ts";
export * from "./google/rpc/status_pb.ts";
