import { describe, expect, it } from "vitest";
import { exampleLine } from "./testing/example-lines.ts";
import { withoutRedraws } from "./progress-bars.ts";

const none = () => false;
const collapsed = (...texts: readonly string[]) =>
  withoutRedraws(
    texts.map((text, index) => exampleLine(index + 1, { text })),
    none,
  ).map(({ line, redraws }) => [line.text, redraws]);

describe("a progress bar", () => {
  it("is shown in its last state: for tqdm, rich and keras", () => {
    expect(
      collapsed(
        "start",
        "batch   0%|          | 0/1000 [00:00<?, ?it/s]",
        "batch  50%|█████     | 500/1000 [00:01<00:01, 498.20it/s]",
        "batch 100%|██████████| 1000/1000 [00:02<00:00, 500.00it/s]",
        "end",
      ),
    ).toEqual([
      ["start", 0],
      ["batch 100%|██████████| 1000/1000 [00:02<00:00, 500.00it/s]", 2],
      ["end", 0],
    ]);
    expect(collapsed("Working ━━━╸━━━━ 20% 0:00:08", "Working ━━━━╸━━━ 40% 0:00:06")).toHaveLength(
      1,
    );
    expect(
      collapsed("10/60 [===>......] - loss: 0.5", "20/60 [=====>....] - loss: 0.25"),
    ).toHaveLength(1);
  });

  it("is a new one when it restarts, or when its text changes", () => {
    expect(collapsed("80%|████  |", "100%|██████|", "20%|█     |")).toEqual([
      ["100%|██████|", 1],
      ["20%|█     |", 0],
    ]);
    expect(collapsed("train 20%|█   |", "valid 40%|██  |")).toHaveLength(2);
    expect(collapsed("20%|█   |", "a line", "40%|██  |")).toHaveLength(3);
  });

  it("is collapsed by writer, even if lines of several ranks are mixed", () => {
    const lines = [1, 2, 3, 4].map((cursor) =>
      exampleLine(cursor, { text: `${cursor * 10}%|█  |`, rank: cursor % 2 }),
    );
    const shown = withoutRedraws(lines, none);
    expect(shown.map(({ line, redraws }) => [line.cursor, redraws])).toEqual([
      ["3", 1],
      ["4", 1],
    ]);
  });

  it("keeps a selected state", () => {
    const lines = [1, 2, 3].map((cursor) => exampleLine(cursor, { text: `${cursor}0%|█  |` }));
    const shown = withoutRedraws(lines, ({ cursor }) => cursor === "2");
    expect(shown.map(({ line, redraws }) => [line.cursor, redraws])).toEqual([
      ["2", 1],
      ["3", 0],
    ]);
  });

  it("is not a script's log of steps", () => {
    const texts = ["step 10/60: loss 0.5, 10% done", "step 11/60: loss 0.4, 11% done"];
    expect(collapsed(...texts)).toHaveLength(2);
    expect(collapsed("| epoch | 50% |", "| epoch | 60% |")).toHaveLength(2);
  });
});
