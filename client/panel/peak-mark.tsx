/** The peak: a mark on it, its size, and the line of the source that it stands in. */
import type { PanelTexts } from "../src/panel/texts";
import type { SourcePlace, StepAnswer } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import type { Frame } from "./bands";
import type { Palette } from "./palette";
import { fill } from "./scale";
import type { Column } from "./series";
import { textWidth } from "./text-width";

const longestCode = 44;

export function PeakMark({
  frame,
  column,
  step,
  place,
  palette,
  texts,
}: {
  frame: Frame;
  column: Column;
  step: StepAnswer;
  place: SourcePlace | undefined;
  palette: Palette;
  texts: PanelTexts;
}) {
  const { moment } = column;
  const x = (frame.x(column.from) + frame.x(column.to)) / 2;
  const y = frame.y(column.total);
  const size = formatBytes(step.allocated);
  const bound = step.complete ? size : fill(texts.atLeast, size);
  const first = fill(texts.peakIn, bound, texts[moment.phase]);
  const code = place === undefined ? moment.operator : place.text;
  const second = code.length <= longestCode ? code : `${code.slice(0, longestCode - 1)}…`;
  const lineText = place === undefined ? "" : `${fill(texts.line, place.line + 1)}: `;
  const width = Math.max(textWidth(first, 12.5), textWidth(lineText, 11) + textWidth(second, 12)) + 18;
  const height = 38;
  const isRight = x + 16 + width > frame.right;
  const left = Math.max(frame.left + 4, isRight ? x - 16 - width : x + 16);
  const top = Math.min(Math.max(frame.top + 4, y - height / 2), frame.bottom - height - 4);
  return (
    <g>
      <line
        x1={isRight ? left + width : left}
        x2={x}
        y1={Math.min(Math.max(y, top + 6), top + height - 6)}
        y2={y}
        stroke={palette.foreground}
        stroke-width="1.25"
      />
      <circle cx={x} cy={y} r="4.5" fill={palette.background} stroke={palette.foreground} stroke-width="2" />
      <rect
        x={left}
        y={top}
        width={width}
        height={height}
        rx="4"
        fill={palette.background}
        fill-opacity="0.94"
        stroke={palette.foreground}
        stroke-width="1"
      />
      <text x={left + 9} y={top + 15} font-size="12" font-weight="600" fill={palette.foreground}>
        {first}
      </text>
      <text x={left + 9} y={top + 30} fill={palette.muted}>
        {lineText}
        <tspan font-family={palette.code} fill={palette.foreground}>
          {second}
        </tspan>
      </text>
    </g>
  );
}
