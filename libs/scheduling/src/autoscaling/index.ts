export { type AutoscalingDecision, type AutoscalingInput, autoscale } from "./autoscale.ts";
export { agentsToLaunch, type Ending, type FleetLimits, instancesToEnd } from "./decide.ts";
export {
  type Instance,
  type InstanceLimits,
  type Judgement,
  judgeInstances,
  type Marks,
  noMarks,
} from "./instances.ts";
