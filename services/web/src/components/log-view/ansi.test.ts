import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAnsi, plainStyle, type Style } from "./ansi.ts";
import { paletteColour } from "./colours.ts";

const escape = "\u001b";
const styled = (text: string): readonly [string, Partial<Style>][] =>
  parseAnsi(text).map((span) => [span.text, changesOf(span.style)]);
const textOf = (text: string) =>
  parseAnsi(text)
    .map((span) => span.text)
    .join("");

function changesOf(style: Style): Partial<Style> {
  return Object.fromEntries(
    Object.entries(style).filter(([key, value]) => plainStyle[key as keyof Style] !== value),
  );
}

describe("a line of a terminal", () => {
  it("is one span of its text if it has no escapes", () => {
    expect(styled("loss\t0.25 ✓ 日本")).toEqual([["loss\t0.25 ✓ 日本", {}]]);
    expect(parseAnsi("")).toEqual([]);
  });

  it("has colours and styles, and loses them at a reset", () => {
    expect(
      styled(`a${escape}[1;31mb${escape}[0mc${escape}[92;44md${escape}[39me${escape}[m!`),
    ).toEqual([
      ["a", {}],
      ["b", { bold: true, foreground: paletteColour(1) }],
      ["c", {}],
      ["d", { foreground: paletteColour(10), background: paletteColour(4) }],
      ["e", { background: paletteColour(4) }],
      ["!", {}],
    ]);
  });

  it("ends each style by the style's own code", () => {
    const all = `${escape}[1;2;3;4;7;9mx`;
    expect(styled(`${all}${escape}[22;23;24;27;29my`)).toEqual([
      ["x", { bold: true, dim: true, italic: true, underline: true, inverse: true, strike: true }],
      ["y", {}],
    ]);
    expect(styled(`${escape}[4:3mcurly${escape}[4:0mplain`)).toEqual([
      ["curly", { underline: true }],
      ["plain", {}],
    ]);
  });

  it("has colours of 256 and of 24 bits, in both spellings", () => {
    for (const code of ["38;5;208", "38:5:208"]) {
      expect(styled(`${escape}[${code}mx`)).toEqual([["x", { foreground: 0xff8700 }]]);
    }
    for (const code of ["38;2;1;2;3", "38:2:1:2:3", "38:2::1:2:3"]) {
      expect(styled(`${escape}[${code}mx`)).toEqual([["x", { foreground: 0x010203 }]]);
    }
    expect(styled(`${escape}[48;5;255;1mx`)).toEqual([["x", { background: 0xeeeeee, bold: true }]]);
  });

  it("never treats parts of an unknown colour as separate codes", () => {
    expect(styled(`${escape}[58;5;1mx`)).toEqual([["x", {}]]);
    expect(styled(`${escape}[38;5;999mx${escape}[38;2;1mx${escape}[38mx`)).toEqual([["xxx", {}]]);
  });

  it("loses every other escape", () => {
    expect(
      textOf(`${escape}[2K${escape}[1;1H${escape}[?25la${escape}7b${escape}(Bc\u009b3Jd`),
    ).toBe("abcd");
    expect(
      textOf(`a${escape}]0;title\u0007b${escape}]8;;http://x${escape}\\c${escape}Pq${escape}\\d`),
    ).toBe("abcd");
    expect(textOf(`a${escape}[12;`)).toBe("a12;");
  });

  it("shows the rest of the line after a string without an end", () => {
    expect(textOf(`before${escape}]0;after`)).toBe("before0;after");
  });

  it("shows control characters, and characters that change the direction of text", () => {
    expect(textOf("a\u0000b\bc\u007fd\u0085e\u202ef\u2066g")).toBe("a␀b␈c␡d�e�f�g");
  });

  it("has at most a few hundred elements, and is parsed in linear time", () => {
    const colours = Array.from({ length: 20_000 }, (_, index) => `${escape}[3${index % 8}mx`).join(
      "",
    );
    expect(parseAnsi(colours).length).toBeLessThanOrEqual(500);
    expect(textOf(colours)).toHaveLength(20_000);
    expect(textOf(`${escape}]`.repeat(200_000))).toBe("");
  });

  it("never has a control character, an empty span or a lost letter, for any input", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        `${escape}[`,
        `${escape}]`,
        "\u0007",
        `${escape}\\`,
        "m",
        ";",
        "38;5;",
        "31",
        "\r",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const spans = parseAnsi(pieces.join(""));
        expect(spans.every(({ text }) => text !== "")).toBe(true);
        expect(spans.map(({ text }) => text).join("")).not.toMatch(
          // oxlint-disable-next-line no-control-regex — the control characters are the subject here
          /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
    fc.assert(
      fc.property(
        fc.string().filter((text) => /^[\t -~]*$/.test(text)),
        (text) => {
          expect(textOf(text)).toBe(text);
        },
      ),
    );
  });
});
