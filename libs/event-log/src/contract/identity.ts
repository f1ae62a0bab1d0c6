import { expect, it } from "vitest";
import type { AppendRequest } from "../port.ts";
import type { ContractHarness } from "./harness.ts";
import { committed, everything, newCommitId, noMeta, requestOf, writeOf } from "./harness.ts";

/** Tests of a commit's writer: the log takes it from the connection, and a client cannot claim another. */
export function identityContract(harness: ContractHarness): void {
  it("a commit id that another role has used is unused for this role", async () => {
    await using subject = await harness.create();
    const experiments = subject.as("ty_experiments");
    const searcher = subject.as("ty_searcher");
    const commitId = newCommitId();
    const stolen = await committed(searcher, [writeOf("search-1", 0)], { commitId });
    const own = requestOf([writeOf("experiment-1", 0, 2)], { commitId });
    const first = await experiments.append(own);
    expect(first).toEqual({
      kind: "committed",
      position: 3,
      streams: [{ stream: "experiment-1", version: 2 }],
      repeated: false,
    });
    expect(await experiments.append(own)).toEqual({ ...first, repeated: true });
    const again = requestOf([writeOf("search-1", 0)], { commitId });
    expect(await searcher.append(again)).toEqual({ ...stolen, repeated: true });
    expect((await everything(experiments)).map(({ commitId: id }) => id)).toEqual([
      commitId,
      commitId,
      commitId,
    ]);
  });

  it("a role gets no result of a commit that moved another role's cursor", async () => {
    await using subject = await harness.create();
    const experiments = subject.as("ty_experiments");
    await committed(experiments, [writeOf("experiment-1", 0, 5)]);
    const cursor = { consumer: "experiments", partition: 0, position: 3, part: 0 };
    const moving = requestOf([], { cursor });
    await experiments.append(moving);
    expect(await subject.as("ty_searcher").append(moving)).toMatchObject({
      kind: "refused",
      code: "not_owner",
    });
    expect(await experiments.append(moving)).toMatchObject({ repeated: true });
  });

  it("the source of a commit is its role's, even if the commit names another", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const claims = ["/trainyard/searcher", "", '/trainyard/", "workspace":"x', "/trainyard/ä\\"];
    const texts = { workspace: 'a "b" \\ ,"workspace":', correlationid: "\u0001\n" };
    await Promise.all(
      claims.map((source, index) =>
        committed(log, [writeOf(`trial-1.${index + 1}`, 0)], {
          meta: { ...noMeta, ...texts, source },
        }),
      ),
    );
    await committed(subject.as("ty_searcher"), [writeOf("search-1", 0)]);
    const stored = await everything(log);
    expect(stored.map(({ meta }) => meta)).toEqual([
      ...claims.map(() => ({ ...noMeta, ...texts, source: "/trainyard/experiments" })),
      { ...noMeta, source: "/trainyard/searcher" },
    ]);
  });

  const withAuthid = (stream: string, authid: string): AppendRequest =>
    requestOf([writeOf(stream, 0)], { meta: { ...noMeta, authid } });

  it("accepts an authid that is empty, a name, or a kind and an id", async () => {
    await using subject = await harness.create();
    const log = subject.as("ty_experiments");
    const good = [
      "",
      "admin",
      "cluster",
      "ada.l+x@lab.example",
      "token:0123456789abcdef",
      "run:12.3#1",
      "agent:gpu-7.rack_2",
      `user:${"x".repeat(195)}`,
    ];
    const results = await Promise.all(
      good.map((authid, index) => log.append(withAuthid(`trial-1.${index + 1}`, authid))),
    );
    expect(results.map(({ kind }) => kind)).toEqual(good.map(() => "committed"));
    expect((await everything(log)).map(({ meta }) => meta.authid)).toEqual(good);
  });

  for (const authid of [
    "two words",
    "a\nb",
    'a"b',
    "ä",
    "token:",
    ":x",
    "A:b",
    "a:b:c",
    "x".repeat(201),
  ]) {
    it(`refuses the authid ${JSON.stringify(authid.slice(0, 20))} as invalid`, async () => {
      await using subject = await harness.create();
      const log = subject.as("ty_experiments");
      const result = await log.append(withAuthid("trial-1.1", authid));
      expect(result).toMatchObject({ kind: "refused", code: "invalid" });
      expect(await log.head()).toBe(0);
    });
  }
}
