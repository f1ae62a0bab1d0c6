// npm run generate: generates the code of proto/, the page of its events and the documents of the API. With --release
// it also freezes the protocol as released.
import process from "node:process";
import {
  generate,
  generateApiDocuments,
  generateEventsPage,
  release,
} from "../lib/generated-code.ts";

const args = process.argv.slice(2);
if (args.some((argument) => argument !== "--release")) {
  process.stderr.write("usage: npm run generate [-- --release]\n");
  process.exitCode = 2;
} else {
  const steps = [
    generate,
    generateEventsPage,
    generateApiDocuments,
    ...(args.includes("--release") ? [release] : []),
  ];
  for (const step of steps) {
    const { code, output } = await step();
    process.stderr.write(output);
    process.exitCode = code;
    if (code !== 0) break;
  }
}
