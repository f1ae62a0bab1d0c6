export { PodCluster } from "./pod-cluster.ts";
export { networkProblem } from "./pod-network.ts";
export { podsProblem } from "./problem.ts";
