// npm run bench -- --list | NAME[/ID] [--json] [--full]: measures Trainyard beside a baseline, in one run. It passes no
// judgement: on a shared machine a single ratio is a hint, and a limit in a test would fail at random.
import { parseArgs } from "node:util";
import { benches, isBenchName } from "../../test/bench/benches.ts";
import { endWithParent, endWithRunner } from "../lib/end-with-runner.ts";
import { useCompiledPrograms } from "../lib/programs/compiled-programs.ts";
import { MachineWatch } from "../../test/bench/support/machine.ts";
import { reportOf, tableOf } from "../../test/bench/support/report.ts";

function usage(problem: string): never {
  process.stderr.write(
    `${problem}\nusage: npm run bench -- --list | NAME[/ID] [--json] [--full]; names: ${Object.keys(benches).join(", ")}\n`,
  );
  process.exit(2);
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        list: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        full: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}

const { values, positionals } = parsed();
if (values.list) {
  for (const [name, { about }] of Object.entries(benches)) {
    process.stdout.write(`${name.padEnd(12)}${about}\n`);
  }
} else {
  const [selected, ...rest] = positionals;
  const [name, id] = selected?.split("/") ?? [];
  if (name === undefined) usage("which benchmark?");
  if (rest.length > 0) usage("one benchmark at a time");
  if (!isBenchName(name)) usage(`there is no benchmark called ${name}`);
  await useCompiledPrograms();
  endWithParent();
  endWithRunner();
  const watch = new MachineWatch();
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const bench = await benches[name].load();
  const wants = (...ids: readonly string[]): boolean => id === undefined || ids.includes(id);
  const measured = await bench({ size: values.full ? "full" : "short", wants, say, watch });
  const results = measured.filter((result) => wants(result.id));
  if (results.length === 0) usage(`${name} has no result called ${id}`);
  const report = reportOf(name, watch.machine(), results);
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : tableOf(report));
}
