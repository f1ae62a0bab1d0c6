export { type NodeOptions, PodNode } from "./node.ts";
export { networkProblem } from "./pod-network.ts";
