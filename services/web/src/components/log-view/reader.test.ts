import { ApiError, Unreachable } from "@trainyard/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { exampleLine } from "./testing/example-lines.ts";
import { LogReader, type Schedule } from "./reader.ts";
import type { LogLine, LogSource } from "./source.ts";
import { windowLimits } from "./window.ts";

const perPage = 500;

/** A log in memory whose lines have the cursors 1, 2, 3, …, and whose frames are drawn when a test requests it. */
class ExampleLog implements LogSource, Schedule {
  readonly #lines: LogLine[] = [];
  readonly #wakers = new Set<() => void>();
  readonly #due: (() => void)[] = [];
  readonly follows: string[] = [];
  reads = 0;
  hasEnded = false;
  failure: Error | null = null;
  /** The number of empty pages before the lines, as from a filter that few lines match. */
  emptyPages = 0;

  constructor(count: number) {
    this.write(count);
  }

  write(count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.#lines.push(exampleLine(this.#lines.length + 1));
    }
    for (const wake of this.#wakers) wake();
  }

  end(): void {
    this.hasEnded = true;
    for (const wake of this.#wakers) wake();
  }

  async last() {
    this.#count();
    return { ...this.#before(this.#lines.length + 1), end: String(this.#lines.length) };
  }

  async read(range: { after: string } | { before: string }) {
    this.#count();
    if (this.emptyPages > 0) {
      this.emptyPages -= 1;
      return {
        lines: [],
        next: "before" in range ? range.before : range.after,
        removed: undefined,
      };
    }
    if ("before" in range) return this.#before(Number(range.before));
    const after = Number(range.after);
    const lines = this.#lines.slice(after, after + perPage);
    const isMore = after + perPage < this.#lines.length;
    return { lines, next: isMore ? String(after + perPage) : null, removed: undefined };
  }

  async *follow(after: string, signal: AbortSignal) {
    this.follows.push(after);
    for (let place = Number(after); ; ) {
      if (this.failure !== null) throw this.failure;
      for (; place < this.#lines.length; place += 1) yield this.#lines[place] ?? exampleLine(0);
      if (this.hasEnded || signal.aborted) return;
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  beforeFrame(callback: () => void): void {
    this.#due.push(callback);
  }

  after(_ms: number, callback: () => void): void {
    this.#due.push(callback);
  }

  async draw(): Promise<void> {
    await settled();
    for (const callback of this.#due.splice(0)) callback();
    await settled();
  }

  #before(before: number) {
    const lines = this.#lines.slice(Math.max(0, before - 1 - perPage), before - 1);
    const isMore = before - 1 > perPage;
    return { lines, next: isMore ? String(before - perPage) : null, removed: undefined };
  }

  #count(): void {
    this.reads += 1;
    if (this.failure !== null) throw this.failure;
  }
}

const settled = async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve));
};

function reading(log: ExampleLog): LogReader {
  const reader = new LogReader(log, log);
  onTestFinished(() => reader.close());
  return reader;
}

const shown = (reader: LogReader): readonly [number, number] => {
  const { lines } = reader.state().window;
  return [Number(lines[0]?.cursor ?? 0), Number(lines.at(-1)?.cursor ?? 0)];
};

describe("a reader of a log", () => {
  it("opens at the end and follows it: lines of one frame are one change", async () => {
    const log = new ExampleLog(1_200);
    const reader = reading(log);
    await reader.open("end");
    expect([shown(reader), reader.state().following]).toEqual([[701, 1_200], true]);
    let changes = 0;
    reader.subscribe(() => {
      changes += 1;
    });
    log.write(300);
    await log.draw();
    expect([shown(reader), changes]).toEqual([[701, 1_500], 1]);
  });

  it("keeps a window of bounded size, however many lines are written", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    await reader.open("end");
    for (let frame = 0; frame < 30; frame += 1) {
      log.write(1_000);
      await log.draw();
    }
    expect(reader.state().window.lines).toHaveLength(windowLimits.lines);
    expect(shown(reader)[1]).toBe(30_010);
  });

  it("adds lines even while no frame is drawn", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    await reader.open("end");
    log.write(2_500);
    await settled();
    expect(shown(reader)[1]).toBe(2_010);
  });

  it("counts lines while it does not follow, and reads them when it scrolls to them", async () => {
    const log = new ExampleLog(700);
    const reader = reading(log);
    await reader.open("end");
    reader.stopFollowing();
    log.write(650);
    await log.draw();
    expect([shown(reader), reader.state().unseen]).toEqual([[201, 700], 650]);
    await reader.readNewer();
    expect([shown(reader)[1], reader.state().window.atEnd]).toEqual([1_200, false]);
    await reader.readNewer();
    expect(reader.state()).toMatchObject({ unseen: 0, following: false });
    expect(shown(reader)[1]).toBe(1_350);
    reader.follow();
    log.write(1);
    await log.draw();
    expect(shown(reader)).toEqual([201, 1_351]);
  });

  it("jumps to the end when it follows again from far behind", async () => {
    const log = new ExampleLog(700);
    const reader = reading(log);
    await reader.open("start");
    expect([shown(reader), reader.state().following]).toEqual([[1, 500], false]);
    log.write(9_300);
    reader.follow();
    await log.draw();
    expect([shown(reader), reader.state().following]).toEqual([[9_501, 10_000], true]);
  });

  it("reads backwards to the start and forwards to the end without a gap", async () => {
    const log = new ExampleLog(12_000);
    const reader = reading(log);
    await reader.open("end");
    while (reader.state().window.older !== null) await reader.readOlder();
    expect([shown(reader), reader.state().following]).toEqual([[1, 4_000], false]);
    while (!reader.state().window.atEnd) await reader.readNewer();
    expect(shown(reader)).toEqual([8_001, 12_000]);
    const cursors = reader.state().window.lines.map(({ cursor }) => Number(cursor));
    expect(cursors).toEqual(Array.from({ length: 4_000 }, (_, index) => 8_001 + index));
  });

  it("opens at a line, with lines before and after it, and does not follow", async () => {
    const log = new ExampleLog(5_000);
    const reader = reading(log);
    await reader.open({ cursor: "2000" });
    expect([shown(reader), reader.state().following]).toEqual([[1_500, 2_499], false]);
    expect(log.follows).toEqual([]);
    await reader.open({ cursor: "4999" });
    log.write(2);
    await log.draw();
    expect([shown(reader)[1], reader.state().unseen]).toEqual([5_000, 2]);
  });

  it("reads past pages without a line", async () => {
    const log = new ExampleLog(1_200);
    const reader = reading(log);
    await reader.open("end");
    log.emptyPages = 3;
    await reader.readOlder();
    expect(shown(reader)).toEqual([201, 1_200]);
    log.emptyPages = 3;
    await reader.open("start");
    expect(shown(reader)).toEqual([1, 500]);
  });

  it("makes one read for concurrent requests", async () => {
    const log = new ExampleLog(5_000);
    const reader = reading(log);
    await reader.open("end");
    const before = log.reads;
    await Promise.all([reader.readOlder(), reader.readOlder(), reader.readOlder()]);
    expect([log.reads - before, shown(reader)[0]]).toEqual([1, 4_001]);
  });

  it("reports that the log has ended, and follows it again after a restart", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    await reader.open("end");
    log.write(5);
    log.end();
    await settled();
    expect([shown(reader)[1], reader.state().ended]).toEqual([15, true]);
    log.hasEnded = false;
    reader.resume();
    log.write(1);
    await log.draw();
    expect([shown(reader)[1], reader.state().ended]).toEqual([16, false]);
  });

  it("reports why it cannot read, and continues when the platform is back", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    log.failure = new Unreachable("no answer");
    await reader.open("end");
    expect(reader.state()).toMatchObject({ problem: log.failure, reading: null });
    log.failure = null;
    await reader.open("end");
    expect([shown(reader), reader.state().problem]).toEqual([[1, 10], null]);
  });

  it("follows again after the last line when the stream breaks, unless it is refused", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    await reader.open("end");
    log.write(5);
    await log.draw();
    log.failure = new Unreachable("no answer");
    log.write(0);
    await settled();
    expect(reader.state().problem).toBe(log.failure);
    log.failure = null;
    await log.draw();
    log.write(1);
    await log.draw();
    expect([shown(reader), reader.state().problem, log.follows]).toEqual([
      [1, 16],
      null,
      ["10", "15"],
    ]);
    const problem = { status: 400, code: "", detail: "no", type: "", title: "", instance: "" };
    log.failure = new ApiError({ ...problem, requestId: "", problems: [] } as never);
    log.write(1);
    await log.draw();
    await log.draw();
    expect([reader.state().problem, log.follows.length]).toEqual([log.failure, 2]);
  });

  it("continues after a refusal for the rate of its caller", async () => {
    const log = new ExampleLog(10);
    const reader = reading(log);
    await reader.open("end");
    log.write(5);
    await log.draw();
    const problem = { status: 429, code: "rate_limited", detail: "", type: "", title: "" };
    log.failure = new ApiError({ ...problem, instance: "", errors: [] } as never);
    log.write(0);
    await settled();
    log.failure = null;
    await log.draw();
    log.write(1);
    await log.draw();
    expect([shown(reader), reader.state().problem]).toEqual([[1, 16], null]);
  });

  it("ignores the results of reads for a place that it has left", async () => {
    const log = new ExampleLog(5_000);
    const reader = reading(log);
    const first = reader.open("end");
    const second = reader.open("start");
    await Promise.all([first, second]);
    await log.draw();
    expect([shown(reader), reader.state().following]).toEqual([[1, 500], false]);
  });
});
