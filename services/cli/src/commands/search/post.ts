/** `yard search post`: sends operations to a custom search in the name of its client. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import type { JsonValue } from "@bufbuild/protobuf";
import type { Plain } from "@trainyard/contracts";
import {
  type PostSearchOperationsRequest,
  PostSearchOperationsRequestSchema,
  PostSearchOperationsResponseSchema,
} from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import { isFault } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { callerPath } from "../../environment.ts";
import { UsageError } from "../../usage-error.ts";

const about = `
The file holds a JSON list of operations, each with an id of your choice that it has forever, for example
  [{"id": "a", "propose": {"hyperparameters": {"lr": 0.1}, "target": 5}},
   {"id": "b", "stop": {"trial": 1, "reason": "too slow"}},
   {"id": "c", "suspend": {"trial": 2}}, {"id": "d", "resume": {"trial": 2, "target": 10}},
   {"id": "e", "progress": {"progress": 0.5}}, {"id": "f", "finish": {"failed": false}}]
or the body of a request to the API: {"operations": […], "restsOn": 41}, which is refused if the search has another
version by then. All of them are recorded, or none; what was posted before changes nothing.`;

export function addPost(group: Command): void {
  group
    .command("post")
    .argument("<experiment>", "one with searcher: {name: custom}")
    .argument("<file>", "the operations as JSON; - for stdin")
    .description("send operations to a custom search")
    .addHelpText("after", about)
    .action(withPlatform(post));
}

async function post({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const { operations, restsOn } = await readOperations(argument(args, 1));
  const options = { idempotencyKey: randomUUID() };
  const answer = await client.call(
    "postSearchOperations",
    { experiment, operations: [...operations], ...(restsOn === undefined ? {} : { restsOn }) },
    options,
  );
  if (output.json) {
    output.message(PostSearchOperationsResponseSchema, answer);
    return;
  }
  output.table(answer.results, [
    { title: "OPERATION", value: ({ id }) => id },
    { title: "TRIAL", value: ({ trial }) => (trial === 0 ? "" : `${experiment}.${trial}`) },
    { title: "VERSION", value: ({ version }) => String(version), right: true },
  ]);
}

async function readOperations(file: string): Promise<Plain<PostSearchOperationsRequest>> {
  const text =
    file === "-"
      ? await textOf(process.stdin)
      : await readFile(callerPath(file), "utf8").catch((error: unknown) => {
          const { code, message } = error as NodeJS.ErrnoException;
          throw new UsageError(`The file ${file} cannot be read (${code ?? message}).`);
        });
  try {
    const given = JSON.parse(text) as JsonValue;
    const codec = codecOf<Plain<PostSearchOperationsRequest>>(PostSearchOperationsRequestSchema);
    return codec.fromJson(Array.isArray(given) ? { operations: given } : given);
  } catch (error) {
    if (!(error instanceof SyntaxError) && !isFault(error)) throw error;
    throw new UsageError(`${file} is not a JSON list of operations: ${error.message}.`);
  }
}
