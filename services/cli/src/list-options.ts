/** The options that every list has: filters, order, and the number of rows. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Plain } from "@trainyard/contracts";
import type { Command } from "commander";
import { collect, wholeNumberOf } from "./option-values.ts";
import type { Output } from "./output.ts";
import { allPages, type Page } from "./pages.ts";
import { noteAge } from "./state-age.ts";

export type RowOptions = {
  readonly filter?: string;
  readonly sort?: string;
  readonly limit?: string;
};

export function addRowOptions(command: Command): Command {
  return command
    .option(
      "--filter <filter>",
      'only rows for which it holds: "state = ERROR and hparams.lr < 1e-3"',
    )
    .option("--sort <field>", 'a field, and asc or desc: "best_value desc"')
    .option("--limit <number>", "at most so many rows");
}

/** Adds the option for columns with hyperparameters and metrics. */
export function addColumnOption(command: Command): Command {
  const what = "also this column, as hparams.lr or metrics.loss; may be given several times";
  return command.option("--column <name>", what, collect);
}

type Asked = ReturnType<typeof rowsOf> & { readonly pageSize: number; readonly pageToken: string };

/** Fetches the rows that a list's options select. With `-o json` it prints them and returns null. */
export async function listedRows<Schema extends DescMessage, Item>(
  output: Output,
  schema: Schema,
  options: RowOptions,
  fetchPage: (asked: Asked) => Promise<Page<Item> & Plain<MessageShape<Schema>>>,
): Promise<readonly Item[] | null> {
  const page = await allPages<Item>(
    (start) => fetchPage({ ...rowsOf(options), ...start }),
    limitOf(options),
  );
  if (!output.json) {
    noteAge(output, page.schedulerAnsweredAtMs);
    return page.items;
  }
  output.message(schema, page as Page<Item> & Plain<MessageShape<Schema>>);
  return null;
}

export const rowsOf = ({ filter = "", sort = "" }: RowOptions) => ({ filter, orderBy: sort });

export function limitOf({ limit }: RowOptions): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : wholeNumberOf("--limit", limit, 1);
}
