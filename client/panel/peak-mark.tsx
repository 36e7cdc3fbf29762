/** The peak: a mark on it, its size, and the line of the source that it stands in. */
import type { PanelTexts } from "../src/panel/texts";
import type { SourcePlace, StepAnswer } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import type { Frame } from "./bands";
import type { Palette } from "./palette";
import { peakLabel, type LabelTexts, type PeakLabel } from "./peak-label";
import { fill } from "./scale";
import type { Column } from "./series";

interface PeakProps {
  readonly frame: Frame;
  readonly column: Column;
  readonly step: StepAnswer;
  readonly place: SourcePlace | undefined;
  readonly texts: PanelTexts;
}

/** Where the label of the peak is drawn, for whatever else needs a place. */
export function placedLabel({ frame, column, step, place, texts }: PeakProps): PeakLabel {
  const [x, y] = middleOf(frame, column);
  return peakLabel(x, y, frame, labelTexts(column, step, place, texts));
}

function middleOf(frame: Frame, column: Column): readonly [number, number] {
  return [(frame.x(column.from) + frame.x(column.to)) / 2, frame.y(column.total)];
}

function labelTexts(
  { moment }: Column,
  step: StepAnswer,
  place: SourcePlace | undefined,
  texts: PanelTexts,
): LabelTexts {
  const size = formatBytes(step.allocated);
  const bound = step.complete ? size : fill(texts.atLeast, size);
  return {
    first: fill(texts.peakIn, bound, texts[moment.phase]),
    line: place === undefined ? "" : fill(texts.beforeCode, place.line + 1),
    code: place === undefined ? moment.operator : place.text,
  };
}

export function PeakMark(props: PeakProps & { readonly palette: Palette }) {
  const { frame, column, step, place, texts, palette } = props;
  const [x, y] = middleOf(frame, column);
  const { first, line } = labelTexts(column, step, place, texts);
  const { left, top, width, height, isBefore, code } = placedLabel(props);
  return (
    <g>
      <line
        x1={isBefore ? left + width : left}
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
        {line}
        <tspan font-family={palette.code} fill={palette.foreground}>
          {code}
        </tspan>
      </text>
    </g>
  );
}
