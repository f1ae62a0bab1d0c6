/**
 * Finds the Python script that an entrypoint starts, so that a submission without it can be refused. The rule is
 * narrow: it never names a script that might exist. It reads "python3 train.py", also with options of Python and behind
 * the launchers that start one process for each slot. An entrypoint with a shell construct, a module, an absolute path
 * or another program has no script here: the image, the host or an earlier command may have it.
 */
import type { NormalisedConfig } from "./config.ts";
import { recordedContainer } from "./container.ts";

/** The characters of a command in which a shell changes nothing. */
const plainCommand = /^[\w./:=,@%+ \t-]*$/;
const python = /^(?:.*\/)?python(?:3(?:\.\d+)?)?$/;
const torchrun = /^(?:.*\/)?torchrun$/;
const launchers =
  /^(?:trainyard\.launch\.(?:torch|torch_distributed|deepspeed)|torch\.distributed\.run)$/;
/** Options of the launchers that have no value. */
const launcherFlags: readonly string[] = ["standalone", "run-path"];
/** Options of the launchers that have one: those of torchrun, and `grace`. */
const launcherValues: readonly string[] = [
  ..."nproc-per-node nnodes node-rank master-addr master-port grace".split(" "),
  ..."rdzv-endpoint rdzv-backend rdzv-id rdzv-conf max-restarts monitor-interval".split(" "),
  ..."start-method role log-dir redirects r tee t local-ranks-filter local-addr".split(" "),
];

/**
 * Returns the path of the script below the folder of training code; null if the entrypoint names none, or if a mount
 * could add it.
 */
export function entrypointScript(config: NormalisedConfig): string | null {
  const { bindMounts } = recordedContainer(config, "cpu");
  if (bindMounts.some(({ containerPath }) => !containerPath.startsWith("/"))) return null;
  return scriptOf(config.entrypoint);
}

/** Returns the script of a shell command, or of a list of arguments. */
export function scriptOf(entrypoint: string | readonly string[]): string | null {
  const words = typeof entrypoint === "string" ? shellWords(entrypoint) : entrypoint;
  const [program = "", ...rest] = words;
  if (python.test(program)) return ofPython(rest);
  return torchrun.test(program) ? ofLauncher(rest) : null;
}

function shellWords(command: string): readonly string[] {
  const text = command.trim();
  if (!plainCommand.test(text)) return [];
  const words = text.split(/[ \t]+/);
  // Variables may be set before the command.
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  return first < 0 ? [] : words.slice(first);
}

function ofPython(words: readonly string[]): string | null {
  const [word = "", ...rest] = words;
  if (/^-[A-Za-z]*m$/.test(word))
    return launchers.test(rest[0] ?? "") ? ofLauncher(rest.slice(1)) : null;
  if (/^-[WX]$/.test(word)) return ofPython(rest.slice(1));
  if (/^-(?:[bBdEhiIOPqRsSuvx]+|[WX].+)$/.test(word)) return ofPython(rest);
  return below(word);
}

function ofLauncher(words: readonly string[]): string | null {
  const [word = "", ...rest] = words;
  if (word === "--") return ofLaunched(rest);
  if (!word.startsWith("-")) return ofLaunched(words);
  const name = word.replace(/^--?/, "").replaceAll("_", "-");
  if (name.includes("=") || launcherFlags.includes(name)) return ofLauncher(rest);
  return launcherValues.includes(name) ? ofLauncher(rest.slice(1)) : null;
}

function ofLaunched([program = "", ...rest]: readonly string[]): string | null {
  return python.test(program) ? ofPython(rest) : below(program);
}

/** Returns a relative path of a Python file without its dots; null for anything else. */
function below(path: string): string | null {
  const parts = path.split("/").filter((part) => part !== "." && part !== "");
  const isScript = path.endsWith(".py") && !/^[-/]/.test(path) && !parts.includes("..");
  return isScript ? parts.join("/") : null;
}
