import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { patcher } from "./patch.ts";
import type { KeyedDocument } from "./protocol.ts";

type Page = { readonly items: readonly { readonly id: string; readonly name: string }[] };
const page = (name: string): Page => ({ items: [{ id: "1", name }] });

/** Only the fields that the tests are about: a frame has the whole document. */
const renamed = (name: string): KeyedDocument =>
  ({
    key: "topic",
    frame: {
      case: "change",
      value: { topic: "t", id: "1", document: { case: "experiment", value: { id: "1", name } } },
    },
  }) as unknown as KeyedDocument;

function world() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const answers: ((answer: Page) => void)[] = [];
  const observer = new QueryObserver<Page>(queries, {
    queryKey: ["list"],
    queryFn: () => new Promise<Page>((resolve) => answers.push(resolve)),
    meta: { live: { topic: "topic", follow: false } },
  });
  const stop = observer.subscribe(() => {});
  const name = () => queries.getQueryData<Page>(["list"])?.items[0]?.name;
  return { queries, answers, name, stop, listener: patcher(queries) };
}

test("a frame changes what was read, without another read", async () => {
  const { answers, name, listener, stop } = world();
  answers[0]?.(page("old"));
  await expect.poll(name).toBe("old");
  listener.frames([renamed("new")]);
  await expect.poll(name).toBe("new");
  expect(answers).toHaveLength(1);
  stop();
});

test("an answer that was asked for before a frame does not undo it", async () => {
  const { queries, answers, name, listener, stop } = world();
  answers[0]?.(page("old"));
  await expect.poll(name).toBe("old");
  void queries.refetchQueries({ queryKey: ["list"] });
  await expect.poll(() => answers.length).toBe(2);
  listener.frames([renamed("new")]);
  await expect.poll(name).toBe("new");
  answers[1]?.(page("old"));
  await expect.poll(() => queries.isFetching()).toBe(0);
  expect(name()).toBe("new");
  stop();
});
