/** The messages between scheduler and agents. */
export {
  protocolProblem,
  type RequestedRun,
  runKeyOf,
  runOfKey,
  type Spoken,
  spokenProtocol,
} from "./agent-protocol.ts";
export {
  type AllocationReport,
  AllocationReportSchema,
  AllocationReportState,
  type Command,
  CommandSchema,
  type Container,
  type Launch,
  LaunchSchema,
  type Report,
  ReportSchema,
  type Storage,
  type Wanted,
  type WantedAllocation,
  WantedAllocationSchema,
  WantedSchema,
  WantedState,
} from "./gen/trainyard/agent/v1/agent_pb.ts";
/** The SDK's end record, which agents read from a run's folder. */
export { type EndRecord, EndRecordSchema } from "./gen/trainyard/common/v1/resources_pb.ts";
