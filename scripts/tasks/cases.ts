// npm run -s cases -- FILE: runs every case of a file through the product's code. Prints one line per case, and the
// difference for a failed one. The exit code is 0 when at least one case ran and none failed, 1 otherwise, and 2 for an
// unreadable file.
import { resolve } from "node:path";
import process from "node:process";
import { readCases, runCases } from "../../test/compat/determined/case-file.ts";

function main(): number {
  const [file, ...rest] = process.argv.slice(2);
  if (file === undefined || rest.length > 0) {
    process.stderr.write("usage: npm run -s cases -- FILE\n");
    return 2;
  }
  let content: ReturnType<typeof readCases>;
  try {
    content = readCases(resolve(process.env["TRAINYARD_CALLER_DIR"] ?? ".", file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${file} cannot be read: ${why}\n`);
    return 2;
  }
  const { outcomes, notRun, unknown } = runCases(content);
  for (const { id, difference } of outcomes) {
    process.stdout.write(
      difference === null ? `ok    ${id}\n` : `FAIL  ${id}\n      ${difference}\n`,
    );
  }
  for (const { id, reason } of notRun) {
    process.stdout.write(`not run  ${id}: ${reason}\n`);
  }
  for (const { section, cases } of unknown) {
    process.stdout.write(`the section ${section} is not known here: ${cases} cases not run\n`);
  }
  const failed = outcomes.filter(({ difference }) => difference !== null).length;
  const skipped = notRun.length + unknown.reduce((sum, { cases }) => sum + cases, 0);
  process.stdout.write(
    `${outcomes.length - failed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} not run`}\n`,
  );
  return failed === 0 && outcomes.length > 0 ? 0 : 1;
}

process.exitCode = main();
