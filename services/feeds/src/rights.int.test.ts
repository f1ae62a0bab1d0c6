import { randomUUID } from "node:crypto";
import { authidOf } from "@trainyard/access";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { answers, PlayedReceivers } from "./testing/played-receivers.ts";
import { experimentCreated, TestFeeds } from "./testing/test-feeds.ts";

const soon = { timeout: 15_000, interval: 50 };
const by = "user:root";
const owner = authidOf("ada");

const ofExperiments = {
  ...{ types: [], object: "experiment", id: "", experiment: "", workspace: "", label: "" },
  where: [],
};

let feeds: TestFeeds;
const outgoing = new PlayedReceivers();

const give = (role: string, workspace: string, grant: string) =>
  feeds.stage.tell("access-cluster", {
    type: "RoleGiven",
    data: { grant, role, user: "ada", group: "", workspace, by },
  });
const take = (grant: string) =>
  feeds.stage.tell("access-cluster", { type: "RoleTaken", data: { grant, by } });
const archive = (experiment: string) =>
  feeds.stage.tell(`experiment-${experiment}`, {
    type: "ExperimentArchived",
    data: { reason: "" },
  });
/** Returns the positions that a subscription got, once there are as many. */
const arrived = (name: string, count: number) =>
  vi.waitFor(() => {
    const positions = feeds.sink.of(name);
    if (positions.length < count) throw new Error(`${positions.length} have arrived`);
    return positions;
  }, soon);

async function subscribe(tokenId = "", limits: readonly object[] = []): Promise<string> {
  const name = `s-${randomUUID().slice(0, 8)}`;
  if (tokenId !== "") {
    const data = { label: "", owner, secretDigest: "", expiresAtMs: 0, ancestors: [], limits };
    await feeds.stage.tell(`token-${tokenId}`, { type: "TokenIssued", data: data as never });
  }
  const reader = { owner, tokenId, ancestors: [], expiresAtMs: 0 };
  const after = await feeds.stage.head();
  const made = await feeds.create({ name, reader, after, filter: ofExperiments });
  expect(made).toMatchObject({ kind: "ok" });
  return name;
}

beforeAll(async () => {
  feeds = await TestFeeds.open();
  await feeds.start({ outgoing });
  await feeds.stage.tell("user-ada", { type: "UserCreated", data: { kind: "person", by } });
  await give("viewer", "vision", "g1");
  await feeds.stage.tell("experiment-1", experimentCreated({ workspace: "vision" }));
  await feeds.stage.tell("experiment-2", experimentCreated({ workspace: "speech" }));
});
afterAll(() => feeds[Symbol.asyncDispose]());

test("a subscription gets what its creator may see at the moment", async () => {
  const name = await subscribe();
  await archive("2");
  const own = await archive("1");
  expect(await arrived(name, 1)).toEqual([own]);
  await give("viewer", "speech", "g2");
  const granted = await archive("2");
  expect(await arrived(name, 2)).toEqual([own, granted]);
  await take("g2");
  await archive("2");
  const later = await archive("1");
  expect(await arrived(name, 3)).toEqual([own, granted, later]);
});

test("an event of an experiment that was moved away is not delivered", async () => {
  await feeds.stage.tell("experiment-5", experimentCreated({ workspace: "speech" }));
  const move = (workspace: string) =>
    feeds.stage.tell("experiment-5", {
      type: "ExperimentMoved",
      data: { workspace, project: "default" },
    });
  const name = await subscribe();
  const seen = [await move("vision"), await archive("5")];
  expect(await arrived(name, 2)).toEqual(seen);
  await move("speech");
  await archive("5");
  const last = await archive("1");
  expect(await arrived(name, 3)).toEqual([...seen, last]);
});

test("a subscription of a limited token gets what the token may see", async () => {
  await give("viewer", "speech", "g3");
  const name = await subscribe("a1", [{ role: "", workspaces: ["speech"] }]);
  const hidden = await archive("1");
  const seen = await archive("2");
  await vi.waitFor(() => expect(feeds.sink.of(name)).toContain(seen), soon);
  expect(feeds.sink.of(name)).not.toContain(hidden);
  await take("g3");
});

test("a subscription of a disabled user gets nothing until the user is enabled", async () => {
  const name = await subscribe();
  await feeds.stage.tell("user-ada", { type: "UserDisabled", data: { reason: "", by } });
  const missed = await archive("1");
  await vi.waitFor(async () => {
    expect(await feeds.facts(name)).toMatchObject({ lagEvents: 0 });
  }, soon);
  await feeds.stage.tell("user-ada", { type: "UserEnabled", data: { by } });
  const seen = await archive("1");
  await vi.waitFor(() => expect(feeds.sink.of(name)).toContain(seen), soon);
  expect(feeds.sink.of(name)).not.toContain(missed);
});

test("a delivery of a webhook that waits is not sent after its creator lost the role", async () => {
  const [name, url] = ["lost", "https://lost.example/hook"];
  outgoing.plays(url, answers(503));
  await give("viewer", "speech", "g4");
  const reader = { owner, tokenId: "", ancestors: [], expiresAtMs: 0 };
  const after = await feeds.stage.head();
  const hook = { name, url, delivery: "webhook", reader, after, filter: ofExperiments };
  expect(await feeds.create(hook)).toMatchObject({ kind: "ok" });
  await archive("2");
  await vi.waitFor(() => expect(outgoing.idsAt(url)).toHaveLength(1), soon);
  const witness = await subscribe();
  await take("g4");
  await archive("2");
  await archive("1");
  await arrived(witness, 1);
  const sent = outgoing.idsAt(url);
  const again = { name, event: sent[0] ?? "" };
  expect(await feeds.stage.ask("feeds", "RedeliverEvent", again)).toMatchObject({ kind: "ok" });
  const request = { name, pageSize: 0, pageToken: "", state: "" };
  await vi.waitFor(async () => {
    const answer = await feeds.stage.ask("feeds", "ListDeliveries", request);
    const attempts = answer.kind === "ok" ? answer.reply.items.at(-1)?.attempts : [];
    expect(attempts?.map(({ error }) => error)).toContain(
      "the creator of the webhook may not see the object of the event any more",
    );
  }, soon);
  expect(outgoing.idsAt(url).filter((id) => id === again.event)).toEqual(
    sent.filter((id) => id === again.event),
  );
});

test("subscriptions are listed by their owner, without the operator's sinks", async () => {
  await feeds.create({ name: "others" });
  const name = await subscribe();
  const request = { name: "", pageSize: 0, pageToken: "", delivery: "", tokenId: "", owner };
  const answer = await feeds.stage.ask("feeds", "ListSubscriptions", request);
  const names = answer.kind === "ok" ? answer.reply.items.map((one) => one.name) : [];
  expect(names).toContain(name);
  expect(names).not.toContain("others");
});
