import { ManualClock } from "@trainyard/testing";
import { describe } from "vitest";
import { objectStoreContract } from "../objects/contract.ts";
import { MemoryBucket, openMemoryStore } from "./memory-objects.ts";

describe("memory", () => {
  objectStoreContract(async () => {
    const clock = new ManualClock(Date.now());
    const options = { prefix: "some/prefix", partBytes: 1_000 };
    const bucket = new MemoryBucket(clock);
    const inState = (state: MemoryBucket["state"]) => {
      const other = new MemoryBucket(clock);
      other.state = state;
      return openMemoryStore(other, options);
    };
    return {
      store: openMemoryStore(bucket, options),
      another: openMemoryStore(bucket, options),
      refused: inState("refusing"),
      away: inState("away"),
      nowhere: inState("absent"),
      send: (request, content) => bucket.send(request, content),
      wait: (ms) => clock.skip(ms),
      [Symbol.asyncDispose]: async () => {},
    };
  });
});
