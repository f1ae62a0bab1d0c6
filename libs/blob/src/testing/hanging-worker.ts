import type { DiskQuestion } from "../process-disk.ts";

/** Sees no marker anywhere, and never returns from a look at a path that contains "hanging". */
process.on("message", ({ root }: DiskQuestion) => {
  if (root.includes("hanging")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  process.send?.({ result: { kind: "unmarked" } });
});
