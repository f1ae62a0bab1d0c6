export { agentsToLaunch, type Ending, type FleetLimits, instancesToEnd } from "./decide.ts";
export {
  type Instance,
  type InstanceLimits,
  type Judgement,
  judgeInstances,
  type Marks,
  noMarks,
} from "./instances.ts";
export { type AgentsWanted, planAgents, type PlanInput } from "./plan.ts";
