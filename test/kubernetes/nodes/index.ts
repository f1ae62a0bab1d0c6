export { PodCluster } from "./pod-cluster.ts";
export { podsProblem } from "./problem.ts";
