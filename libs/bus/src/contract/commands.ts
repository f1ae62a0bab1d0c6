import { Fault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { busLimits } from "../limits.ts";
import type { CommandHandler, CommandRequest } from "../port.ts";
import { bytes, commandOf, type OpenFixture, text, until } from "./fixture.ts";

const longMs = 10_000;
const shortMs = 50;
const ok: CommandHandler = async ({ body }) => ({ kind: "ok", body });

export function commandContract(open: OpenFixture): void {
  test("a command arrives with its headers and body, and its answer is returned", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    const seen: CommandRequest[] = [];
    await served.serve("experiments", {
      CreateExperiment: async (request) => {
        seen.push(request);
        return { kind: "ok", body: bytes(`{"position":"7"}`) };
      },
    });
    const gateway = await fixture.connect("gateway");
    const command = commandOf('{"name":"Übung"}');
    const headers = { ...command.headers, authid: "user with spaces, 100% Ü\r\n" };
    const reply = await gateway.request(
      "experiments",
      "CreateExperiment",
      { ...command, headers },
      longMs,
    );
    expect(reply.kind).toBe("ok");
    expect(reply.kind === "ok" && text(reply.body)).toBe('{"position":"7"}');
    expect(seen[0]?.headers).toEqual(headers);
    expect(text(seen[0]?.body ?? bytes(""))).toBe('{"name":"Übung"}');
  });

  test("a handler learns when the deadline of its caller has passed", async () => {
    await using fixture = await open();
    const served = await fixture.connect("metrics");
    const late: boolean[] = [];
    const given = Promise.withResolvers<void>();
    await served.serve("metrics", {
      QueryPoints: async ({ isLate }) => {
        late.push(isLate());
        await until("the caller has given up", isLate);
        late.push(isLate());
        await given.promise;
        return { kind: "ok", body: bytes("{}") };
      },
    });
    const gateway = await fixture.connect("gateway");
    const asked = gateway.request("metrics", "QueryPoints", commandOf("{}"), shortMs);
    await expect(asked).rejects.toMatchObject({ retry: "later" });
    await until("the handler has learned it", () => late.length === 2);
    given.resolve();
    expect(late).toEqual([false, true]);
  });

  test("a rejection is returned as a rejection", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    const body = bytes('{"code":"unknown_experiment"}');
    await served.serve("experiments", {
      PauseExperiment: async () => ({ kind: "rejected", body }),
    });
    const gateway = await fixture.connect("gateway");
    const reply = await gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    expect(reply.kind).toBe("rejected");
    expect(reply.kind === "rejected" && text(reply.body)).toBe('{"code":"unknown_experiment"}');
  });

  test("an unavailable service returns its retry delay", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    const away = {
      kind: "unavailable",
      detail: "another holder – ä",
      retryAfterMs: 1_234,
    } as const;
    await served.serve("experiments", { PauseExperiment: async () => away });
    const gateway = await fixture.connect("gateway");
    expect(
      await gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs),
    ).toEqual(away);
  });

  test("a handler's retryable Fault is returned as an unavailable service, without its text", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    await served.serve("experiments", {
      PauseExperiment: async () => {
        throw new Fault("database_away", "no route to 10.1.2.3 with password hunter2", {
          retry: "later",
        });
      },
    });
    const gateway = await fixture.connect("gateway");
    const reply = await gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    expect(reply).toMatchObject({ kind: "unavailable", retryAfterMs: busLimits.retryAfterMs });
    expect(JSON.stringify(reply)).not.toContain("hunter2");
  });

  test("a handler that throws returns only the failure to its caller, without details", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    await served.serve("experiments", {
      PauseExperiment: async () => {
        throw new TypeError("secret detail");
      },
    });
    const gateway = await fixture.connect("gateway");
    const asked = gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    const error = await asked.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "command_failed", retry: "never" });
    expect(String(error)).not.toContain("secret detail");
  });

  test("an unanswered request ends at its deadline", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    await served.serve("experiments", { PauseExperiment: () => new Promise(() => {}) });
    const gateway = await fixture.connect("gateway");
    const asked = gateway.request("experiments", "PauseExperiment", commandOf("{}"), shortMs);
    await expect(asked).rejects.toMatchObject({ code: "deadline_exceeded", retry: "later" });
  });

  test("a request to a service without a server fails at once", async () => {
    await using fixture = await open();
    const gateway = await fixture.connect("gateway");
    const asked = gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    await expect(asked).rejects.toMatchObject({ code: "no_responders", retry: "later" });
  });

  test("a request larger than a message is refused, with the limit, and others follow", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    await served.serve("experiments", { PauseExperiment: ok });
    const gateway = await fixture.connect("gateway");
    const large = commandOf("x".repeat(busLimits.messageBytesMax + 1));
    const asked = gateway.request("experiments", "PauseExperiment", large, longMs);
    await expect(asked).rejects.toMatchObject({
      code: "message_too_large",
      retry: "never",
      message: expect.stringContaining(String(busLimits.messageBytesMax)),
    });
    const next = await gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    expect(next.kind).toBe("ok");
  });

  test("a service that stopped serving gets no new commands and completes its running ones", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    let finish: () => void = () => {};
    let started = false;
    const serving = await served.serve("experiments", {
      PauseExperiment: async ({ body }) => {
        started = true;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { kind: "ok", body };
      },
    });
    const gateway = await fixture.connect("gateway");
    const first = gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    await until("the handler is at work", () => started);
    const stopped = serving[Symbol.asyncDispose]();
    finish();
    expect((await first).kind).toBe("ok");
    await stopped;
    const second = gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    await expect(second).rejects.toMatchObject({ code: "no_responders" });
  });

  test("two replicas share the commands, and each is handled once", async () => {
    await using fixture = await open();
    const handled: Record<string, number> = { one: 0, two: 0 };
    for (const replica of ["one", "two"]) {
      const bus = await fixture.connect("registry");
      await bus.serve("registry", {
        DeclareCheckpoint: async (request) => {
          handled[replica] = (handled[replica] ?? 0) + 1;
          return await ok(request);
        },
      });
    }
    const gateway = await fixture.connect("gateway");
    const total = 60;
    const replies = await Promise.all(
      Array.from({ length: total }, (_, index) =>
        gateway.request("registry", "DeclareCheckpoint", commandOf(String(index)), longMs),
      ),
    );
    expect(replies.map((reply) => reply.kind === "ok" && text(reply.body))).toEqual(
      Array.from({ length: total }, (_, index) => String(index)),
    );
    expect((handled["one"] ?? 0) + (handled["two"] ?? 0)).toBe(total);
    expect(handled["one"]).toBeGreaterThan(0);
    expect(handled["two"]).toBeGreaterThan(0);
  });

  test("concurrent commands beyond the limit are refused", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let atWork = 0;
    await served.serve("experiments", {
      PauseExperiment: async (request) => {
        atWork += 1;
        await released;
        return await ok(request);
      },
    });
    const gateway = await fixture.connect("gateway");
    const ask = () => gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    const within = Array.from({ length: busLimits.commandsInFlightMax }, ask);
    await until("all are at work", () => atWork === busLimits.commandsInFlightMax);
    expect((await ask()).kind).toBe("unavailable");
    release();
    const kinds = new Set((await Promise.all(within)).map((reply) => reply.kind));
    expect([...kinds]).toEqual(["ok"]);
  });

  test("while the server is down requests fail at once, and they succeed after its return", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    await served.serve("experiments", { PauseExperiment: ok });
    const gateway = await fixture.connect("gateway");
    await fixture.down();
    await until("both know", () => !gateway.connected() && !served.connected());
    const asked = gateway.request("experiments", "PauseExperiment", commandOf("{}"), longMs);
    await expect(asked).rejects.toMatchObject({ code: "bus_away", retry: "later" });
    await fixture.up();
    await until("both are back", () => gateway.connected() && served.connected());
    await until("the service answers", async () => {
      const again = gateway.request("experiments", "PauseExperiment", commandOf("x"), longMs);
      return await again.then(
        (reply) => reply.kind === "ok",
        () => false,
      );
    });
  });

  test("a lost link ends its open requests at once", async () => {
    await using fixture = await open();
    const served = await fixture.connect("experiments");
    let started = false;
    await served.serve("experiments", {
      PauseExperiment: () => {
        started = true;
        return new Promise(() => {});
      },
    });
    const gateway = await fixture.connect("gateway");
    const asked = gateway.request(
      "experiments",
      "PauseExperiment",
      commandOf("{}"),
      longMs * longMs,
    );
    const ended = expect(asked).rejects.toMatchObject({ code: "bus_away", retry: "later" });
    await until("the handler is at work", () => started);
    await fixture.down();
    await ended;
    await fixture.up();
  });
}
