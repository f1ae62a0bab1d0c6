// npm run -s yard -- …: the command line of this checkout.
import { run } from "@trainyard/cli";

process.exitCode = await run(process.argv.slice(2));
