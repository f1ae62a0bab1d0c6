import { PoolAgents } from "./agents.ts";
import { WaitingQueue } from "./queue.ts";

/** A set of agents under one policy, and what waits for them. */
export class Pool {
  readonly agents = new PoolAgents();
  readonly queue = new WaitingQueue();
}
