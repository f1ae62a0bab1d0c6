/**
 * The command that registers a local folder as a model version. The checkout's Python package sends the files, as for
 * any checkpoint, so the upload has one implementation.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Plain } from "@trainyard/contracts";
import { type ModelVersion, ModelVersionSchema } from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import type { Command } from "commander";
import { requireAccess } from "../connection.ts";
import { outputOf } from "../context.ts";
import { callerPath, pythonOfPerson } from "../environment.ts";
import { Failure } from "../usage-error.ts";
import { addWordOptions, newWords, type WordOptions } from "./model-words.ts";

const program = ["-m", "trainyard.client._register_folder"];

type FolderOptions = WordOptions & { readonly semver?: string; readonly create?: boolean };

export function addFolderCommand(group: Command): void {
  addWordOptions(
    group
      .command("register-folder")
      .argument("<model>")
      .argument("<folder>", "a folder of this host, with at most 5,000 files"),
  )
    .option("--semver <version>", "a semantic version, such as 1.2.0")
    .option("--create", "create the model if it does not exist")
    .description("upload a folder and make it a version; it is kept until the version is removed")
    .action((model: string, folder: string, options: FolderOptions, command: Command) =>
      registerFolder(model, folder, options, command),
    );
}

async function registerFolder(
  model: string,
  folder: string,
  options: FolderOptions,
  command: Command,
): Promise<void> {
  const { semver: semantic_version = "", create: create_model = false } = options;
  const order = {
    ...requireAccess(),
    ...{ model, folder: callerPath(folder), semantic_version, create_model },
    ...newWords(options),
  };
  const version = await runProgram(order);
  const output = outputOf(command);
  if (output.json) output.message(ModelVersionSchema, version);
  else output.line(`the folder ${folder} is version ${version.number} of ${model}`);
}

/** Runs the upload program; its progress is passed on to stderr. */
async function runProgram(order: object): Promise<Plain<ModelVersion>> {
  const { python, env } = pythonOfPerson();
  const child = spawn(python, program, {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const absent = new Promise<never>((_, reject) => {
    child.once("error", () =>
      reject(new Failure(`Folders are sent by Python 3.9 or later, and ${python} does not start.`)),
    );
  });
  // If the program does not start, the write to its stdin fails; the exit code reports the error.
  child.stdin.on("error", () => undefined);
  child.stdin.end(JSON.stringify(order));
  const closed = once(child, "close");
  const [said] = await Promise.race([Promise.all([text(child.stdout), closed]), absent]);
  const answer = answerOf(said);
  if (answer.version !== undefined) {
    return codecOf<Plain<ModelVersion>>(ModelVersionSchema).decode(JSON.stringify(answer.version));
  }
  throw new Failure(
    sentence(
      answer.problem ??
        "the program that sends folders has ended early; a repeat sends what is missing",
    ),
  );
}

type Answer = { readonly version?: object; readonly problem?: string };

function answerOf(said: string): Answer {
  try {
    return JSON.parse(said) as Answer;
  } catch {
    return {};
  }
}

function sentence(said: string): string {
  const whole = said.charAt(0).toUpperCase() + said.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
