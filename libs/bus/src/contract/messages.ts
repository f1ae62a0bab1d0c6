import { expect, test } from "vitest";
import type { Message } from "../port.ts";
import {
  agentDoSubject,
  agentReportSubject,
  allAgentReports,
  decodeToken,
  feedAckSubject,
  logSubject,
  metricSubject,
} from "../subjects.ts";
import { awkwardIds, bytes, type OpenFixture, text, until } from "./fixture.ts";

export function messageContract(open: OpenFixture): void {
  test("a message reaches each listener of its subject once, and no other listener", async () => {
    await using fixture = await open();
    const scheduler = await fixture.connect("scheduler");
    const heard: Record<string, string[]> = { a1: [], again: [], a2: [] };
    const listen = async (name: string, subject: string): Promise<void> => {
      const bus = await fixture.connect(name);
      await bus.subscribe(subject, ({ body }) => heard[name]?.push(text(body)));
    };
    await listen("a1", agentDoSubject("a1"));
    await listen("again", agentDoSubject("a1"));
    await listen("a2", agentDoSubject("a2"));
    scheduler.publish(agentDoSubject("a1"), bytes("one"));
    scheduler.publish(agentDoSubject("a1"), bytes("two"));
    scheduler.publish(agentDoSubject("a2"), bytes("last"));
    await until("all have heard", () => heard["a2"]?.length === 1 && heard["again"]?.length === 2);
    await until("the first has heard", () => heard["a1"]?.length === 2);
    expect(heard).toEqual({ a1: ["one", "two"], again: ["one", "two"], a2: ["last"] });
  });

  test("the sender of a message that asks for an answer learns that nobody listens", async () => {
    await using fixture = await open();
    const feeds = await fixture.connect("feeds");
    const answers: [string, boolean][] = [];
    await feeds.subscribe("ty.feed-ack.a.*", ({ subject, isUnheard }) =>
      answers.push([subject, isUnheard]),
    );
    const ask = (position: number): boolean =>
      feeds.publishAsking("ty.feed.a", {
        headers: [["ce-subject", "trial 12"]],
        body: bytes("{}"),
        answerTo: feedAckSubject("a", position),
      });
    expect(ask(1)).toBe(true);
    await until("nobody has heard", () => answers.length === 1);
    const program = await fixture.connect("registry");
    await program.subscribe("ty.feed.a", () => program.publish(feedAckSubject("a", 2), bytes("")));
    ask(2);
    await until("the program has answered", () => answers.length === 2);
    expect(answers).toEqual([
      ["ty.feed-ack.a.1", true],
      ["ty.feed-ack.a.2", false],
    ]);
  });

  test("a wildcard matches every agent, whatever characters its name has", async () => {
    await using fixture = await open();
    const scheduler = await fixture.connect("scheduler");
    const heard: string[] = [];
    await scheduler.subscribe(allAgentReports, ({ subject }) => {
      heard.push(decodeToken(subject.split(".")[2] ?? ""));
    });
    const agent = await fixture.connect("agent");
    for (const id of awkwardIds) agent.publish(agentReportSubject(id), bytes("{}"));
    await until("all are heard", () => heard.length === awkwardIds.length);
    expect(heard).toEqual([...awkwardIds]);
  });

  test("a listener that stopped receives no further messages", async () => {
    await using fixture = await open();
    const bus = await fixture.connect("scheduler");
    const heard: string[] = [];
    const first = await bus.subscribe("ty.agent.a.report", ({ body }) => heard.push(text(body)));
    const marks: string[] = [];
    await bus.subscribe("ty.agent.a.report", ({ body }) => marks.push(text(body)));
    const agent = await fixture.connect("agent");
    agent.publish("ty.agent.a.report", bytes("one"));
    await until("the first is heard", () => heard.length === 1);
    await first[Symbol.asyncDispose]();
    agent.publish("ty.agent.a.report", bytes("two"));
    await until("the second is heard", () => marks.length === 2);
    expect(heard).toEqual(["one"]);
  });

  test("live copies reach their listeners, by experiment, trial and group", async () => {
    await using fixture = await open();
    const metrics = await fixture.connect("metrics");
    const dashboard = await fixture.connect("gateway");
    const all: Message[] = [];
    const one: Message[] = [];
    const lines: string[] = [];
    await dashboard.tailLive("ty.metric.>", (message) => all.push(message));
    await dashboard.tailLive(`ty.metric.12.${"12%2E3"}.*`, (message) => one.push(message));
    await dashboard.tailLive("ty.log.>", ({ body }) => lines.push(text(body)));
    metrics.publishLive("METRICS", metricSubject("12", "12.3", "training"), bytes("1"));
    metrics.publishLive("METRICS", metricSubject("12", "12.4", "validation"), bytes("2"));
    metrics.publishLive("LOGS", logSubject("12.3#1"), bytes("line"));
    await until("all are heard", () => all.length === 2 && lines.length === 1);
    expect(all.map((message) => text(message.body))).toEqual(["1", "2"]);
    expect(one.map((message) => text(message.body))).toEqual(["1"]);
    expect(lines).toEqual(["line"]);
  });

  test("a message published while the server is down is dropped, and subscriptions survive", async () => {
    await using fixture = await open();
    const scheduler = await fixture.connect("scheduler");
    const agent = await fixture.connect("agent");
    const heard: string[] = [];
    await agent.subscribe("ty.agent.a.do", ({ body }) => heard.push(text(body)));
    const changes: boolean[] = [];
    using _ = scheduler.onConnection((connected) => changes.push(connected));
    await fixture.down();
    await until("both know", () => !scheduler.connected() && !agent.connected());
    scheduler.publish("ty.agent.a.do", bytes("lost"));
    scheduler.publishLive("METRICS", "ty.metric.1.1.g", bytes("lost"));
    await fixture.up();
    await until("both are back", () => scheduler.connected() && agent.connected());
    await until("a message arrives", () => {
      scheduler.publish("ty.agent.a.do", bytes("heard"));
      return heard.length > 0;
    });
    expect(heard).not.toContain("lost");
    expect(changes).toEqual([false, true]);
  });

  test("a bus opened while the server is down works after its return", async () => {
    await using fixture = await open();
    await fixture.down();
    const agent = await fixture.connect("agent");
    const heard: string[] = [];
    await agent.subscribe("ty.agent.a.do", ({ body }) => heard.push(text(body)));
    expect(agent.connected()).toBe(false);
    await fixture.up();
    const scheduler = await fixture.connect("scheduler");
    await until("both are connected", () => scheduler.connected() && agent.connected());
    await until("a message arrives", () => {
      scheduler.publish("ty.agent.a.do", bytes("heard"));
      return heard.length > 0;
    });
  });
}
