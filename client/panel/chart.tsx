/** The picture: live bytes along one step as an SVG of its own, which a file can hold as it is. */
import type { PanelTexts } from "../src/panel/texts";
import type { StepAnswer, TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { BandLabels, Bands, Outline, PeakColumn, type Frame } from "./bands";
import { Grid, Limits, Phases } from "./chart-frame";
import { Legend, legendHeight, Title, titleHeight, type Heading } from "./chart-head";
import type { Palette } from "./palette";
import { PeakMark, placedLabel } from "./peak-mark";
import { axisTop, fill } from "./scale";
import { bandsOf, columnsOf, phaseRanges, type Column } from "./series";

export interface ChartProps {
  readonly width: number;
  readonly height: number;
  readonly shown: TimelineShown;
  readonly palette: Palette;
  readonly texts: PanelTexts;
  readonly language: string;
  /** Index of the column that is pointed at. */
  readonly cursor?: number | undefined;
  /** A picture that stands alone says what it shows. */
  readonly heading?: Heading | undefined;
}

/** What is drawn: the step with the changes, where there are any. */
export function visibleStep({ now, changed }: TimelineShown): StepAnswer {
  return changed ?? now;
}

const margin = { left: 66, right: 18, top: 24, bottom: 26 };

/** Where the columns lie, for who points at them. In pixels of the picture. */
export function plotOf(width: number): { readonly left: number; readonly right: number } {
  return { left: margin.left, right: Math.max(margin.left + 1, width - margin.right) };
}

export function visibleColumns(shown: TimelineShown): Column[] {
  return columnsOf(visibleStep(shown), phaseRanges(shown.now));
}

export function Chart(props: ChartProps) {
  const { width, height, shown, palette, texts, heading } = props;
  const step = visibleStep(shown);
  const ranges = phaseRanges(shown.now);
  const columns = columnsOf(step, ranges);
  const limits = [shown.budget, shown.device?.bytes].filter((limit) => typeof limit === "number");
  const most = axisTop([step.allocated, shown.now.allocated], limits);
  const head = heading === undefined ? 0 : titleHeight + legendHeight;
  const { left, right } = plotOf(width);
  const [top, bottom] = [margin.top + head, height - margin.bottom];
  const frame: Frame = {
    x: (share) => left + share * (right - left),
    y: (bytes) => bottom - (bytes / most) * (bottom - top),
    left,
    right,
    top,
    bottom,
    most,
  };
  const bands = bandsOf(columns);
  const peak = columns[step.peak];
  const marked = peak && { frame, column: peak, step, place: placeOf(shown, peak), texts };
  const label = marked && placedLabel(marked);
  // The other labels go where the peak's does not stand.
  const limitsLeft = label !== undefined && label.left + label.width / 2 > (left + right) / 2;
  const pointed = props.cursor === undefined ? undefined : columns[props.cursor];
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      font-family={palette.font}
      font-size="11"
      {...(heading === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": heading.title })}
    >
      {heading !== undefined && <rect width={width} height={height} fill={palette.background} />}
      {heading !== undefined && <Title heading={heading} palette={palette} />}
      {heading !== undefined && <Legend bands={bands} palette={palette} texts={texts} top={titleHeight} />}
      <Phases frame={frame} ranges={ranges} palette={palette} texts={texts} />
      <Bands frame={frame} bands={bands} columns={columns} palette={palette} />
      <PeakColumn frame={frame} bands={bands} columns={columns} index={step.peak} />
      <BandLabels frame={frame} bands={bands} columns={columns} palette={palette} texts={texts} />
      <Grid frame={frame} palette={palette} caption={texts.axis} />
      {shown.changed !== null && (
        <Outline
          frame={frame}
          columns={columnsOf(shown.now, ranges)}
          palette={palette}
          label={fill(texts.asIs, formatBytes(shown.now.allocated))}
          isLeft={!limitsLeft}
        />
      )}
      <Limits frame={frame} shown={shown} palette={palette} texts={texts} isLeft={limitsLeft} />
      {pointed !== undefined && <Pointed frame={frame} column={pointed} palette={palette} />}
      {marked !== undefined && <PeakMark {...marked} palette={palette} />}
    </svg>
  );
}

function placeOf({ places }: TimelineShown, { moment }: Column) {
  return moment.place === null ? undefined : places[moment.place];
}

function Pointed({ frame, column, palette }: { frame: Frame; column: Column; palette: Palette }) {
  const from = frame.x(column.from);
  const width = Math.max(1, frame.x(column.to) - from);
  return (
    <g>
      <rect
        x={from}
        width={width}
        y={frame.top}
        height={frame.bottom - frame.top}
        fill={palette.foreground}
        fill-opacity="0.18"
      />
      <line
        x1={from}
        x2={from}
        y1={frame.top}
        y2={frame.bottom}
        stroke={palette.foreground}
        stroke-width="1"
      />
    </g>
  );
}
