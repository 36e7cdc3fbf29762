/** The picture as a file: the chart drawn once more, with a heading and a legend of its own. */
import { render } from "preact";
import type { TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { Chart, visibleStep } from "./chart";
import { blocksText } from "./controls";
import { fill } from "./scale";
import type { View } from "./view";

const width = 1000;
const height = 560;
/** Pixels of a PNG for each of the drawing's. */
const sharpness = 2;

/** The text of an SVG: shapes and words, no bitmap. */
export function svgOf(view: View, shown: TimelineShown): string {
  const holder = document.createElement("div");
  const { palette, texts, language } = view;
  const heading = { title: `${fill(texts.title, shown.model)} — ${view.file}`, note: noteOf(view, shown) };
  const chart = { width, height, shown, palette, texts, language, heading };
  render(<Chart {...chart} />, holder);
  const svg = holder.querySelector("svg");
  const text = svg === null ? "" : new XMLSerializer().serializeToString(svg);
  render(null, holder);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`;
}

/** The peak and the setup that the picture is of. */
function noteOf({ texts, changes }: View, shown: TimelineShown): string {
  const { allocated, complete } = visibleStep(shown);
  const { batch, precision, optimizer, recompute } = shown.controls;
  const made = shown.changed === null ? {} : changes;
  const size = formatBytes(allocated);
  const checkpointed = made.checkpointed ?? recompute.value;
  const parts = [
    fill(texts.peakIs, complete ? size : fill(texts.atLeast, size)),
    `${texts.microBatch} ${made.batch ?? batch.value}`,
    made.precision ?? precision.value,
    made.optimizer ?? optimizer.value,
    checkpointed === 0 ? "" : `${texts.recompute} ${blocksText(texts, checkpointed, recompute)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** A PNG in base64. */
export async function pngOf(view: View, shown: TimelineShown): Promise<string> {
  const address = URL.createObjectURL(new Blob([svgOf(view, shown)], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * sharpness;
    canvas.height = height * sharpness;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png").replace(/^data:image\/png;base64,/, "");
  } finally {
    URL.revokeObjectURL(address);
  }
}
