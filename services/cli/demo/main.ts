import { runDemo } from "./demo.ts";

process.exitCode = await runDemo();
