import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { patcher } from "./patch.ts";
import type { KeyedDocument } from "./protocol.ts";
import type { RowOrder } from "./rows.ts";

type Page = { readonly items: readonly { readonly id: string; readonly name: string }[] };
const page = (name: string): Page => ({ items: [{ id: "1", name }] });

/** A frame has the whole document; these have only the fields that the tests need. */
const renamed = (name: string, id = "1"): KeyedDocument =>
  ({
    key: "topic",
    frame: {
      case: "change",
      value: { topic: "t", id, document: { case: "experiment", value: { id, name } } },
    },
  }) as unknown as KeyedDocument;

function world(order?: RowOrder) {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const answers: ((answer: Page) => void)[] = [];
  const observer = new QueryObserver<Page>(queries, {
    queryKey: ["list"],
    queryFn: () => new Promise<Page>((resolve) => answers.push(resolve)),
    meta: { live: { topic: "topic", follow: true, order } },
  });
  const stop = observer.subscribe(() => {});
  const name = () => queries.getQueryData<Page>(["list"])?.items[0]?.name;
  return { queries, answers, name, stop, listener: patcher(queries) };
}

test("a frame changes the cached answer, without another read", async () => {
  const { answers, name, listener, stop } = world();
  answers[0]?.(page("old"));
  await expect.poll(name).toBe("old");
  listener.frames([renamed("new")]);
  await expect.poll(name).toBe("new");
  expect(answers).toHaveLength(1);
  stop();
});

test("an answer that was requested before a frame does not undo the frame", async () => {
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

test("new rows are inserted in their current state, without another read", async () => {
  const { queries, answers, listener, stop } = world("newest first");
  answers[0]?.(page("old"));
  const names = () => queries.getQueryData<Page>(["list"])?.items.map(({ name }) => name);
  await expect.poll(names).toEqual(["old"]);
  listener.frames([renamed("second", "2")]);
  listener.frames([renamed("second, changed", "2"), renamed("third", "3")]);
  await expect.poll(names).toEqual(["third", "second, changed", "old"]);
  expect(answers).toHaveLength(1);
  stop();
});

test("new rows of a list in another order are read", async () => {
  const { queries, answers, listener, stop } = world();
  answers[0]?.(page("old"));
  await expect.poll(() => queries.isFetching()).toBe(0);
  listener.frames([renamed("second", "2")]);
  await expect.poll(() => answers.length, { timeout: 5_000 }).toBe(2);
  stop();
});

test("the caller's rights are read again when a document is gone and when lists are reset", async () => {
  const frame = { case: "gone", value: { topic: "t", id: "1" } };
  const gone = { key: "topic", frame } as unknown as KeyedDocument;
  type Listener = ReturnType<typeof patcher>;
  const changes = [
    (listener: Listener) => listener.frames([gone]),
    (listener: Listener) => listener.reset(["topic"]),
  ];
  const stale = changes.map((change) => {
    const { queries, listener, stop } = world();
    queries.setQueryData(["getMe", {}], { hasUsers: true });
    change(listener);
    stop();
    return () => queries.getQueryState(["getMe", {}])?.isInvalidated;
  });
  await expect.poll(() => stale.map((is) => is()), { timeout: 5_000 }).toEqual([true, true]);
});
