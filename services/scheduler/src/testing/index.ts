export { defaultSilence } from "../config.ts";
export { Cluster } from "../core/cluster/cluster.ts";
export { jobsOf } from "../core/pool/job-info.ts";
export { BeatingCluster } from "./beating-cluster.ts";
export { agentStart, experimentCreated, runRequested, trialCreated } from "./examples.ts";
export { ScriptedAgent } from "./scripted-agent.ts";
