import { run } from "./program.ts";

// A reader that has seen enough ("yard … | head") closes the pipe: that is no failure, and nobody reads any more.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await run(process.argv.slice(2));
