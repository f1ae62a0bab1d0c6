/**
 * Runs a program of ours, which the first argument names, so that it ends with the supervisor: the input is a pipe that
 * only the supervisor holds open, and the kernel closes it even after kill -9. The program then ends as by SIGTERM; an
 * agent leaves its runs to the next one.
 */
import { pathToFileURL } from "node:url";

process.stdin.once("close", () => process.kill(process.pid, "SIGTERM"));
process.stdin.on("error", () => {}); // It closes, too.
process.stdin.resume().unref();
process.argv.splice(1, 1);
await import(pathToFileURL(process.argv[1] ?? "").href);
