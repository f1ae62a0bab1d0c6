/** A process for file systems in which every call of a root whose path contains "hanging" hangs, like a lost mount. */
import "../disk-worker.ts";
import type { DiskQuestion } from "../process-disk.ts";

process.on("message", (question: DiskQuestion) => {
  const root = "args" in question ? String(question.args[0]) : "";
  if (root.includes("hanging")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
