/** What scheduler and agents say to each other. */
export {
  type AllocationReport,
  AllocationReportSchema,
  AllocationReportState,
  type Command,
  CommandSchema,
  type Launch,
  LaunchSchema,
  type Report,
  ReportSchema,
  type Wanted,
  type WantedAllocation,
  WantedAllocationSchema,
  WantedSchema,
  WantedState,
} from "./gen/trainyard/agent/v1/agent_pb.ts";
