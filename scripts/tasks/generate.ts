// npm run generate: the code that proto/ declares. With --release it also freezes the protocol as released.
import process from "node:process";
import { generate, release } from "../lib/generated-code.ts";

const args = process.argv.slice(2);
if (args.some((argument) => argument !== "--release")) {
  process.stderr.write("usage: npm run generate [-- --release]\n");
  process.exitCode = 2;
} else {
  for (const step of args.includes("--release") ? [generate, release] : [generate]) {
    const { code, output } = await step();
    process.stderr.write(output);
    process.exitCode ||= code;
  }
}
