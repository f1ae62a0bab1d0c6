export { Cluster } from "../core/cluster/cluster.ts";
export { experimentCreated, runRequested, trialCreated } from "./examples.ts";
export { ScriptedAgent } from "./scripted-agent.ts";
export { World } from "./world.ts";
