import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { addressForms, sectionOfAddress } from "@trainyard/blob/store-address";
import { clientAt } from "../connection.ts";
import type { ClusterInfo } from "@trainyard/local-cluster";
import { type Command, InvalidArgumentError, Option } from "commander";
import { outputOf } from "../context.ts";
import type { Output } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { doctor } from "./cluster-doctor.ts";
import { webWords } from "./ui.ts";

type UpOptions = {
  readonly agents?: number;
  readonly slots?: number;
  readonly processes?: boolean;
  readonly restart: boolean;
  readonly web: boolean;
  readonly storage?: string;
  readonly storageEndpoint?: string;
  readonly moved?: boolean;
  readonly copy?: boolean;
};

/** Adds the commands for the embedded cluster of the checkout (or of TRAINYARD_HOME). */
export function addClusterCommands(program: Command): void {
  const group = program.command("cluster").description("the embedded cluster on this machine");
  group
    .command("up")
    .option("--agents <n>", "how many agents", wholeNumber)
    .option("--slots <n>", "slots of each agent, by default the number of CPU cores", wholeNumber)
    .option("--processes", "every service as a process of its own")
    .option("--no-restart", "do not restart processes that end")
    .option("--no-web", "do not build and serve the Web UI")
    .option(
      "--storage <address>",
      `${addressForms}: where checkpoints go whose experiment names no storage`,
      storeAddress,
    )
    .option("--storage-endpoint <url>", "of a store that is neither Amazon's nor Google's")
    .option("--moved", "the home was moved here: it stays the same cluster")
    .addOption(
      new Option("--copy", "the home is a copy: it becomes a cluster of its own").conflicts(
        "moved",
      ),
    )
    .description("start it, or show the one that runs")
    .action(async (options: UpOptions, command: Command) => up(options, outputOf(command)));
  group
    .command("status")
    .description("its processes and their addresses")
    .action(async (_options: object, command: Command) => status(outputOf(command)));
  group
    .command("doctor")
    .description(
      "what training code can reach on this machine, and whether others reach its secrets",
    )
    .action(async (_options: object, command: Command) => doctor(outputOf(command)));
  group
    .command("logs")
    .argument("<name>", "a process of cluster status")
    .description("the log of one process")
    .action(async (name: string) => {
      const { processLog } = await embedded();
      await pipeline(createReadStream(processLog(name)), process.stdout, { end: false });
    });
  group
    .command("restart")
    .argument("<name>", "a process of cluster status")
    .description("stop one process and start it again")
    .action(async (name: string, _options: object, command: Command) => {
      const { restartProcess } = await embedded();
      await restartProcess(name);
      outputOf(command).note(`${name} was restarted`);
    });
  group
    .command("down")
    .option("--purge", "also delete its data")
    .description("stop everything, trials gracefully")
    .action(async (options: { purge?: boolean }, command: Command) => {
      const output = outputOf(command);
      const { clusterDown } = await embedded();
      const stopped = await clusterDown(undefined, { purge: options.purge ?? false });
      output.note(stopped ? "the cluster is down" : "no cluster was up");
    });
}

/** Loads the code of the embedded cluster, which only the commands of this group need. */
const embedded = () => import("@trainyard/local-cluster");

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}

function storeAddress(text: string): string {
  if (sectionOfAddress(text) !== null) return text;
  throw new InvalidArgumentError(`It must be ${addressForms}.`);
}

async function up(
  { storage: address, storageEndpoint: endpoint, moved, copy, ...options }: UpOptions,
  output: Output,
): Promise<void> {
  if (endpoint !== undefined && address === undefined) {
    throw new Failure("--storage-endpoint is the endpoint of --storage, which is missing.");
  }
  const { clusterUp } = await embedded();
  const { cluster, alreadyUp } = await clusterUp({
    ...options,
    arrival: copy === true ? "copy" : moved === true ? "moved" : null,
    ...(address === undefined ? {} : { storage: { address, endpoint } }),
    onProgress: (step) => output.note(step),
  });
  if (address !== undefined && !alreadyUp) await tryStorage(output);
  if (alreadyUp)
    output.note("the cluster was up already; the options of this call changed nothing");
  show(cluster, output);
  if (options.web && !output.json) await showLink(output);
}

async function showLink(output: Output): Promise<void> {
  const { clusterAccess } = await embedded();
  const access = clusterAccess();
  if (access === null) return;
  const client = clientAt({ url: access.api, token: access.token });
  const { address, note } = await webWords(client, access.api);
  output.line(`\nWeb UI: ${address}`);
  output.note(note);
}

/**
 * Validates an experiment that names no storage, which checks the cluster's storage. If the storage cannot be used, the
 * cluster is stopped.
 */
async function tryStorage(output: Output): Promise<void> {
  const { clusterAccess, clusterDown } = await embedded();
  const access = clusterAccess();
  if (access === null) return;
  output.note("trying the storage");
  const client = clientAt({ url: access.api, token: access.token });
  const config = "{ name: storage, entrypoint: 'true', searcher: { name: single, metric: loss } }";
  try {
    await client.call("createExperiment", { config, validateOnly: true });
  } catch (error) {
    await clusterDown();
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`The storage cannot be used, so that the cluster was stopped: ${why}`);
  }
}

async function status(output: Output): Promise<void> {
  const { clusterStatus } = await embedded();
  const cluster = await clusterStatus();
  if (cluster === null) {
    throw new Failure('No cluster runs here. Start one with "yard cluster up".');
  }
  show(cluster, output);
}

function show(cluster: ClusterInfo, output: Output): void {
  if (output.json) {
    output.line(JSON.stringify(cluster));
    return;
  }
  output.fields([
    ["version", cluster.version],
    ["api", cluster.api],
    ["token", `in ${cluster.tokenFile}`],
    ["home", cluster.home],
  ]);
  output.line("");
  output.table(cluster.processes, [
    { title: "PROCESS", value: ({ name }) => name },
    { title: "KIND", value: ({ kind }) => kind },
    { title: "PID", value: ({ pid }) => String(pid ?? ""), right: true },
    { title: "STATE", value: ({ state }) => state },
    { title: "LOG", value: ({ log }) => log },
  ]);
  for (const note of cluster.notes) output.note(note);
}
