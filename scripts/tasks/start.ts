// npm start: the embedded cluster, and a search on it from submission to the best model.
import { runDemo } from "@trainyard/cli/demo";

process.exitCode = await runDemo();
