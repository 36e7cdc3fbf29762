/** Heading and legend of a picture that is saved: beside the panel's own they are not needed. */
import type { PanelTexts } from "../src/panel/texts";
import { kindColours } from "./kinds";
import type { Palette } from "./palette";
import type { Band } from "./series";
import { textWidth } from "./text-width";

export const titleHeight = 46;
export const legendHeight = 26;

export interface Heading {
  readonly title: string;
  /** The peak, and the setup that it is for: a picture that is passed on has no controls beside it. */
  readonly note: string;
}

export function Title({ heading, palette }: { heading: Heading; palette: Palette }) {
  return (
    <g>
      <text x="18" y="24" font-size="15" font-weight="600" fill={palette.foreground}>
        {heading.title}
      </text>
      <text x="18" y="41" fill={palette.muted}>
        {heading.note}
      </text>
    </g>
  );
}

export function Legend({
  bands,
  palette,
  texts,
  top,
}: {
  bands: readonly Band[];
  palette: Palette;
  texts: PanelTexts;
  top: number;
}) {
  let x = 18;
  return (
    <g>
      {bands.map(({ kind }) => {
        const at = x;
        x += textWidth(texts[kind], 11) + 34;
        return (
          <g key={kind}>
            <rect x={at} y={top + 6} width="11" height="11" rx="2" fill={kindColours[kind]} />
            <text x={at + 17} y={top + 12} dominant-baseline="central" fill={palette.foreground}>
              {texts[kind]}
            </text>
          </g>
        );
      })}
    </g>
  );
}
