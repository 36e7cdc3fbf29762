/** What stands behind and beside the areas: phases, scale, limits. */
import type { PanelTexts } from "../src/panel/texts";
import type { TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import type { Frame } from "./bands";
import type { Palette } from "./palette";
import { byteTicks, fill } from "./scale";
import type { PhaseRange } from "./series";

export function Phases({
  frame,
  ranges,
  palette,
  texts,
}: {
  frame: Frame;
  ranges: readonly PhaseRange[];
  palette: Palette;
  texts: PanelTexts;
}) {
  return (
    <g>
      {ranges.map(({ phase, from, to }, i) => {
        const [x, width] = [frame.x(from), frame.x(to) - frame.x(from)];
        return (
          <g key={phase}>
            <rect
              x={x}
              width={width}
              y={frame.top - 20}
              height={frame.bottom - frame.top + 20}
              fill={i % 2 === 0 ? palette.shade : "none"}
            />
            {i > 0 && (
              <line
                x1={x}
                x2={x}
                y1={frame.top - 20}
                y2={frame.bottom}
                stroke={palette.grid}
                stroke-width="1"
              />
            )}
            <text
              x={x + width / 2}
              y={frame.top - 7}
              text-anchor="middle"
              fill={palette.muted}
              font-weight="600"
            >
              {texts[phase]}
            </text>
          </g>
        );
      })}
    </g>
  );
}

export function Grid({ frame, palette, caption }: { frame: Frame; palette: Palette; caption: string }) {
  return (
    <g>
      {byteTicks(frame.most, 6).map(({ bytes, label }) => {
        const y = frame.y(bytes);
        return (
          <g key={bytes}>
            <line
              x1={frame.left}
              x2={frame.right}
              y1={y}
              y2={y}
              stroke={bytes === 0 ? palette.muted : palette.grid}
              stroke-width="1"
            />
            <text x={frame.left - 8} y={y} text-anchor="end" dominant-baseline="central" fill={palette.muted}>
              {label}
            </text>
          </g>
        );
      })}
      <text
        x={(frame.left + frame.right) / 2}
        y={frame.bottom + 17}
        text-anchor="middle"
        fill={palette.muted}
      >
        {caption} →
      </text>
    </g>
  );
}

/** Budget and device as lines; what lies far above the step is said at the upper edge. */
export function Limits({
  frame,
  shown,
  palette,
  texts,
  isLeft,
}: {
  frame: Frame;
  shown: TimelineShown;
  palette: Palette;
  texts: PanelTexts;
  /** The labels stand at the left end, out of the peak's way. */
  isLeft: boolean;
}) {
  const { budget, device } = shown;
  const limits = [
    ...(device === null
      ? []
      : [
          {
            bytes: device.bytes,
            text: fill(texts.device, deviceName(device)),
            colour: palette.error,
            dash: "",
          },
        ]),
    ...(budget === null
      ? []
      : [
          {
            bytes: budget,
            text: fill(texts.budget, formatBytes(budget)),
            colour: palette.warning,
            dash: "7 4",
          },
        ]),
  ];
  const [x, anchor] = isLeft ? [frame.left + 6, "start" as const] : [frame.right - 6, "end" as const];
  let outside = 0;
  return (
    <g>
      {limits.map(({ bytes, text, colour, dash }) => {
        const isInside = bytes <= frame.most;
        const y = isInside ? frame.y(bytes) : frame.top + 10 + 14 * outside;
        if (!isInside) outside += 1;
        return (
          <g key={text}>
            {isInside && (
              <line
                x1={frame.left}
                x2={frame.right}
                y1={y}
                y2={y}
                stroke={colour}
                stroke-width="1.5"
                stroke-dasharray={dash}
              />
            )}
            <text
              x={x}
              y={isInside ? y - 5 : y}
              text-anchor={anchor}
              fill={palette.foreground}
              stroke={palette.background}
              stroke-width="3"
              paint-order="stroke"
              font-weight="600"
            >
              {isInside ? text : `↑ ${fill(texts.above, text)}`}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function deviceName({ bytes, card }: NonNullable<TimelineShown["device"]>): string {
  return card === null ? formatBytes(bytes) : `${card.toUpperCase()} ${formatBytes(bytes)}`;
}
