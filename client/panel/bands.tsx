/** The stacked areas, their labels, and the outline of another step above them. */
import type { PanelTexts } from "../src/panel/texts";
import { kindColours, kindPatterns, type Pattern } from "./kinds";
import type { Palette } from "./palette";
import { labelPlace, type Band, type Column } from "./series";
import { stepArea, stepLine } from "./step-path";
import { textWidth } from "./text-width";

/** Where things lie in the picture. */
export interface Frame {
  /** From shares of the width to pixels. */
  readonly x: (share: number) => number;
  /** From bytes to pixels. */
  readonly y: (bytes: number) => number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** Bytes at the top. */
  readonly most: number;
}

interface BandsProps {
  readonly frame: Frame;
  readonly bands: readonly Band[];
  readonly columns: readonly Column[];
  readonly palette: Palette;
  readonly texts: PanelTexts;
}

export function Bands({ frame, bands, columns, palette }: Omit<BandsProps, "texts">) {
  return (
    <g>
      {palette.isHighContrast && <Patterns bands={bands} />}
      {bands.map(({ kind, edges }) => {
        const path = bandPath(frame, columns, edges);
        return (
          <g key={kind} data-kind={kind}>
            <path d={path} fill={kindColours[kind]} />
            {palette.isHighContrast && kindPatterns[kind] !== "none" && (
              <path d={path} fill={`url(#pattern-${kind})`} />
            )}
          </g>
        );
      })}
    </g>
  );
}

/** Names in the bands that have room for them. */
export function BandLabels({ frame, bands, columns, palette, texts }: BandsProps) {
  return (
    <g>
      {bands.map((band) => (
        <BandLabel
          key={band.kind}
          frame={frame}
          band={band}
          columns={columns}
          text={texts[band.kind]}
          hasPattern={palette.isHighContrast}
        />
      ))}
    </g>
  );
}

/** Every moment holds until the next one. */
function bandPath(frame: Frame, columns: readonly Column[], edges: Band["edges"]): string {
  const edge = (which: 0 | 1) =>
    columns.map(({ from }, i) => ({ x: frame.x(from), y: frame.y(edges[i]?.[which] ?? 0) }));
  return stepArea(edge(1), edge(0), frame.x(columns.at(-1)?.to ?? 0));
}

function BandLabel({
  frame,
  band,
  columns,
  text,
  hasPattern,
}: {
  frame: Frame;
  band: Band;
  columns: readonly Column[];
  text: string;
  hasPattern: boolean;
}) {
  const first = Math.ceil(frame.left);
  const count = Math.max(0, Math.floor(frame.right) - first);
  const upper = new Array<number>(count).fill(0);
  const lower = new Array<number>(count).fill(0);
  columns.forEach((column, i) => {
    const [low, high] = band.edges[i] ?? [0, 0];
    const from = Math.max(0, Math.floor(frame.x(column.from)) - first);
    const to = Math.min(count, Math.floor(frame.x(column.to)) - first + 1);
    upper.fill(frame.y(high), from, to);
    lower.fill(frame.y(low), from, to);
  });
  const place = labelPlace(upper, lower, textWidth(text, 11) + 10);
  if (place === undefined || place.height < 14) return null;
  return (
    <text
      x={first + place.x}
      y={place.y}
      text-anchor="middle"
      dominant-baseline="central"
      fill={band.kind === "parameters" ? "#ffffff" : "#000000"}
      font-weight="500"
      stroke={hasPattern ? kindColours[band.kind] : "none"}
      stroke-width="5"
      stroke-linejoin="round"
      paint-order="stroke"
    >
      {text}
    </text>
  );
}

/** The column of the peak once more, wide enough to be seen in a picture with more moments than pixels. */
export function PeakColumn({
  frame,
  bands,
  columns,
  index,
}: {
  frame: Frame;
  bands: readonly Band[];
  columns: readonly Column[];
  index: number;
}) {
  const column = columns[index];
  if (column === undefined) return null;
  const [from, to] = [frame.x(column.from), frame.x(column.to)];
  const width = Math.max(2, to - from);
  return (
    <g>
      {bands.map(({ kind, edges }) => {
        const [low, high] = edges[index] ?? [0, 0];
        const y = frame.y(high);
        return (
          <rect
            key={kind}
            x={(from + to - width) / 2}
            width={width}
            y={y}
            height={frame.y(low) - y}
            fill={kindColours[kind]}
          />
        );
      })}
    </g>
  );
}

export function Outline({
  frame,
  columns,
  palette,
  label,
  isLeft,
}: {
  frame: Frame;
  columns: readonly Column[];
  palette: Palette;
  label: string;
  /** The label stands to the left of the highest point, where there is room. */
  isLeft: boolean;
}) {
  const last = columns.at(-1);
  if (last === undefined) return null;
  const steps = columns.map(({ from, total }) => ({ x: frame.x(from), y: frame.y(total) }));
  const highest = columns.reduce((most, column) => (column.total > most.total ? column : most), last);
  const x = frame.x(highest.from);
  const width = textWidth(label, 11) + 10;
  const isRight = isLeft ? x - width > frame.left : x + width > frame.right;
  return (
    <g>
      <path
        d={stepLine(steps, frame.x(last.to))}
        fill="none"
        stroke={palette.foreground}
        stroke-width="1.25"
        stroke-dasharray="4 3"
      />
      <text
        x={isRight ? x - 6 : x + 6}
        y={Math.max(frame.top + 10, frame.y(highest.total) - 6)}
        text-anchor={isRight ? "end" : "start"}
        fill={palette.foreground}
        stroke={palette.background}
        stroke-width="3"
        paint-order="stroke"
      >
        {label}
      </text>
    </g>
  );
}

function Patterns({ bands }: { bands: readonly Band[] }) {
  return (
    <defs>
      {bands.map(({ kind }) => (
        <pattern key={kind} id={`pattern-${kind}`} width="8" height="8" patternUnits="userSpaceOnUse">
          <PatternMark pattern={kindPatterns[kind]} />
        </pattern>
      ))}
    </defs>
  );
}

const strokes: Readonly<Record<Exclude<Pattern, "none" | "dots">, string>> = {
  right: "M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6",
  left: "M-2 6 L2 10 M0 0 L8 8 M6 -2 L10 2",
  cross: "M0 0 L8 8 M0 8 L8 0",
  across: "M0 4 H8",
  down: "M4 0 V8",
  grid: "M0 4 H8 M4 0 V8",
};

function PatternMark({ pattern }: { pattern: Pattern }) {
  if (pattern === "none") return null;
  if (pattern === "dots") return <circle cx="4" cy="4" r="1.2" fill="#000000" />;
  return <path d={strokes[pattern]} stroke="#000000" stroke-width="0.9" stroke-opacity="0.7" fill="none" />;
}
