// npm start: starts the embedded cluster and runs a search on it, from submission to the best model.
import { runDemo } from "@trainyard/cli/demo";

process.exitCode = await runDemo();
