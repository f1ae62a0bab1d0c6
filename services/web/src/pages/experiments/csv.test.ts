import { expect, test } from "vitest";
import { csvText } from "./csv.ts";

const column = (id: string) => ({
  column: {
    id,
    title: id,
    width: 100,
    cell: () => null,
    text: (row: Readonly<Record<string, string>>) => row[id] ?? "",
  },
});

test("a CSV file has the shown columns, with quotes where they are needed", () => {
  const rows = [{ name: 'a "b", c', loss: "-0.5" }, { name: "d" }];
  expect(csvText([column("name"), column("loss")], rows)).toBe(
    'name,loss\r\n"a ""b"", c",-0.5\r\nd,\r\n',
  );
});

test("no cell of a CSV file is a formula", () => {
  expect(csvText([column("name")], [{ name: "=1+1" }, { name: "-rm" }])).toBe(
    "name\r\n'=1+1\r\n'-rm\r\n",
  );
});
