/** Direct calls of the append function by a role whose service was compromised. */
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { collect, committed, everything, noMeta, requestOf, writeOf } from "../contract/harness.ts";
import { metaText } from "../hash.ts";
import { appendByHand } from "../testing/append-by-hand.ts";
import { emptyLog, type PostgresUnderTest, prepareServer } from "../testing/postgres-harness.ts";

let server: TestPostgres;
let subject: PostgresUnderTest;
let client: pg.Client;
beforeAll(async () => {
  server = await startTestPostgres();
  await prepareServer(server);
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  subject = await emptyLog(server);
  const url = server.url({ user: "ty_experiments", database: "trainyard" });
  client = new pg.Client({ connectionString: url });
  await client.connect();
  return async () => {
    await client.end();
    await subject[Symbol.asyncDispose]();
  };
});

const invalid = [{ outcome: "refused", detail: expect.objectContaining({ code: "invalid" }) }];

for (const versions of [
  [1, 1, 3],
  [1, 3, 2],
  [3, 2, 1],
  [1, 1, 4, 4],
  [1, 2, 2, 3],
]) {
  test(`a commit with the versions ${versions.join(", ")} of one stream is refused`, async () => {
    const request = requestOf([writeOf("trial-1.1", 0, versions.length)]);
    expect(await appendByHand(client, [request], { eventVersions: versions })).toMatchObject(
      invalid,
    );
    // The bad commit also fails in a batch with a valid commit, which succeeds.
    const other = requestOf([writeOf("trial-1.2", 0)]);
    expect(
      await appendByHand(client, [request, other], { eventVersions: [...versions, 1] }),
    ).toMatchObject([...invalid, { outcome: "committed" }]);
    const log = subject.as("ty_reader");
    expect((await everything(log)).map(({ stream }) => stream)).toEqual(["trial-1.2"]);
  });
}

test("the versions of a continued stream must follow its stored version", async () => {
  await committed(subject.as("ty_experiments"), [writeOf("trial-1.1", 0, 2)]);
  const request = requestOf([writeOf("trial-1.1", 2, 2)]);
  for (const versions of [
    [2, 3],
    [4, 5],
  ]) {
    const [answer] = await appendByHand(client, [request], { eventVersions: versions });
    expect(answer).toMatchObject({ outcome: "conflict", detail: { actual: 2 } });
  }
  expect(await appendByHand(client, [request])).toMatchObject([{ outcome: "committed" }]);
});

for (const eventCommits of [
  [2, 2, 1],
  [1, 2, 1],
  [1, 1, 3],
  [0, 0, 1],
]) {
  test(`a batch whose events name the commits ${eventCommits.join(", ")} writes nothing`, async () => {
    const requests = [
      requestOf([writeOf("trial-1.1", 0), writeOf("trial-1.2", 0)]),
      requestOf([writeOf("trial-1.3", 0)]),
    ];
    await expect(appendByHand(client, requests, { eventCommits })).rejects.toMatchObject({
      code: "22023",
    });
    const log = subject.as("ty_reader");
    expect(await log.head()).toBe(0);
    expect(await collect(log.verify(0))).toEqual([]);
  });
}

test("an event that names no commit is not written", async () => {
  const requests = [requestOf([writeOf("trial-1.1", 0)]), requestOf([writeOf("trial-1.2", 0)])];
  for (const eventCommits of [
    [1, null],
    [1, 7],
  ]) {
    await appendByHand(client, requests, { eventCommits }).catch((error: unknown) =>
      expect(error).toMatchObject({ code: "22023" }),
    );
  }
  const log = subject.as("ty_reader");
  expect((await everything(log)).map(({ stream }) => stream)).toEqual(["trial-1.1"]);
  expect(await collect(log.verify(0))).toEqual([]);
});

const own = metaText(noMeta);
const metas = {
  "are no JSON": "{}}",
  "are another object": '{"source":"/trainyard/experiments"}',
  "have a line break within a string": own.replace('"workspace":""', '"workspace":"\n"'),
  "have a source twice": own.replace(/}$/, ',"source":"/trainyard/searcher"}'),
  "have a source twice, the second disguised": own.replace(
    /}$/,
    ',"s\\u006furce":"/trainyard/searcher"}',
  ),
  "have an authid twice": own.replace(/}$/, ',"authid":"admin"}'),
  "have one more attribute": own.replace(/}$/, ',"more":""}'),
  "have one more attribute, with an escape": own.replace(/}$/, ',"more":"\\n"}'),
  "have an attribute that is an object": own.replace('"workspace":""', '"workspace":{"authid":""}'),
  "have an authid of another form": own.replace('"authid":""', '"authid":"two words"'),
  "have an authid with an escape": own.replace('"authid":""', '"authid":"a\\u0020b"'),
  "hide the authid in another attribute": own
    .replace('"workspace":""', '"workspace":"\\",\\"authid\\":\\""')
    .replace(',"authid":""', ""),
};
for (const [what, meta] of Object.entries(metas)) {
  test(`attributes that ${what} are refused`, async () => {
    const request = requestOf([writeOf("trial-1.1", 0)]);
    expect(await appendByHand(client, [request], { metas: [meta] })).toMatchObject(invalid);
    expect(await subject.as("ty_reader").head()).toBe(0);
  });
}

test("a source forged in the text of the attributes is replaced by the role's source", async () => {
  const forged = [
    own.replace("/trainyard/experiments", "/trainyard/scheduler"),
    own.replace("/trainyard/experiments", ""),
    own.replace("/trainyard/experiments", 'x\\",\\"workspace\\":'),
  ];
  const requests = forged.map((_, index) => requestOf([writeOf(`trial-1.${index + 1}`, 0)]));
  const answers = await appendByHand(client, requests, { metas: forged });
  expect(answers.map(({ outcome }) => outcome)).toEqual(forged.map(() => "committed"));
  const log = subject.as("ty_reader");
  expect((await everything(log)).map(({ meta }) => meta)).toEqual(forged.map(() => noMeta));
  expect(await collect(log.verify(0))).toEqual([]);
});
