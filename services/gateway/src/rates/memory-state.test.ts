import { systemClock } from "@trainyard/kernel/system-clock";
import { MemoryState } from "./memory-state.ts";
import { sharedStateContract } from "./shared-state-contract.ts";

sharedStateContract("the memory of one gateway", systemClock, async () => {
  const state = new MemoryState(systemClock);
  return [state, state];
});
