/** The picture of a chart as a PNG: its title, the plot with its axes, and a legend, in the colours of the theme. */
import type { Colours } from "../../theme/colours.ts";

export type PictureEntry = {
  readonly text: string;
  readonly colour: string;
  readonly dash: readonly number[];
};

export type Picture = {
  readonly title: string;
  /** The drawn plot; its resolution is that of the picture. */
  readonly plot: HTMLCanvasElement;
  readonly legend: readonly PictureEntry[];
  readonly colours: Colours;
};

/** Lengths in CSS pixels. */
const [margin, headHeight, rowHeight] = [12, 28, 20];
const [swatchWidth, swatchGap, entryGap] = [16, 6, 18];

/** Places boxes of these widths in rows, in their order. */
export function inRows(
  widths: readonly number[],
  width: number,
  gap: number,
): readonly { readonly x: number; readonly row: number }[] {
  let [x, row] = [0, 0];
  return widths.map((own) => {
    if (x > 0 && x + own > width) [x, row] = [0, row + 1];
    const place = { x, row };
    x += own + gap;
    return place;
  });
}

export async function pngOf({ title, plot, legend, colours }: Picture): Promise<Blob> {
  const ratio = plot.width / plot.clientWidth;
  const [width, height] = [plot.width / ratio, plot.height / ratio];
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  if (ctx === null) throw new Error("the browser has no canvas");
  const font = `12px ${colours.mono}`;
  ctx.font = font;
  const widths = legend.map(
    ({ text }) => swatchWidth + swatchGap + Math.ceil(ctx.measureText(text).width),
  );
  const places = inRows(widths, width - 2 * margin, entryGap);
  const rows = (places.at(-1)?.row ?? -1) + 1;
  canvas.width = plot.width;
  canvas.height = Math.ceil((headHeight + height + rows * rowHeight + margin) * ratio);
  ctx.scale(ratio, ratio);
  ctx.fillStyle = colours.background;
  ctx.fillRect(0, 0, width, canvas.height / ratio);
  ctx.textBaseline = "middle";
  ctx.fillStyle = colours.text;
  ctx.font = `600 ${font}`;
  ctx.fillText(title, margin, headHeight / 2);
  ctx.drawImage(plot, 0, headHeight, width, height);
  ctx.font = font;
  ctx.lineWidth = 2;
  for (const [index, { text, colour, dash }] of legend.entries()) {
    const { x = 0, row = 0 } = places[index] ?? {};
    const [left, middle] = [margin + x, headHeight + height + (row + 0.5) * rowHeight];
    ctx.strokeStyle = colour;
    ctx.setLineDash([...dash]);
    ctx.beginPath();
    ctx.moveTo(left, middle);
    ctx.lineTo(left + swatchWidth, middle);
    ctx.stroke();
    ctx.fillText(text, left + swatchWidth + swatchGap, middle);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error("the picture is too large")) : resolve(blob),
    );
  });
}
