import { run } from "./program.ts";

// A reader that stops early ("yard … | head") closes the pipe. It is not a failure: the command ends.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await run(process.argv.slice(2));
