/** The picture in the panel: pointing, walking with the keyboard, and what is said of a moment. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { Chart, plotOf, visibleColumns, visibleStep } from "./chart";
import { kindColours, stackedKinds } from "./kinds";
import { fill } from "./scale";
import { columnAt, type Column } from "./series";
import { Swatch } from "./swatch";
import { Tooltip } from "./tooltip";
import type { Actions, View } from "./view";

interface AreaProps {
  readonly view: View;
  readonly actions: Actions;
  readonly shown: TimelineShown;
}

/** How many moments Page Up and Page Down pass. */
const pageOf = (count: number): number => Math.max(5, Math.round(count / 20));

export function ChartArea({ view, actions, shown }: AreaProps) {
  const { texts, palette, language } = view;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [cursor, setCursor] = useState<number>();
  const [spoken, setSpoken] = useState("");
  const columns = visibleColumns(shown);
  const step = visibleStep(shown);
  const pointed = cursor === undefined ? undefined : columns[Math.min(cursor, columns.length - 1)];
  const height = Math.round(Math.min(440, Math.max(260, width * 0.46)));

  const place = (column: Column | undefined) =>
    column?.moment.place === null || column === undefined ? undefined : shown.places[column.moment.place];
  const open = (column: Column | undefined): void => {
    const target = place(column);
    if (target !== undefined) actions.open(target);
  };
  const columnOf = (event: { clientX: number }): number => {
    const { left, right } = plotOf(width);
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    return columnAt(columns, (x - left) / (right - left));
  };
  const walk = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      setCursor(undefined);
      setSpoken("");
      return;
    }
    if (event.key === "Enter") {
      open(pointed);
      return;
    }
    const next = target(event.key, cursor, columns.length, step.peak);
    if (next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setCursor(next);
    setSpoken(sentence(columns[next], view, shown));
  };
  return (
    <section class="chart" aria-labelledby="chart-title">
      <h2 id="chart-title" class="hidden">
        {texts.chart}
      </h2>
      <Kinds columns={columns} view={view} />
      <p id="chart-help" class="hidden">
        {texts.chartHelp}
      </p>
      <div
        ref={box}
        class={`plot${place(pointed) === undefined ? "" : " link"}`}
        tabIndex={0}
        role="application"
        aria-roledescription={texts.chart}
        aria-label={`${texts.chart}: ${sentence(columns[step.peak], view, shown)}`}
        aria-describedby="chart-help"
        onKeyDown={walk}
        onPointerMove={(event) => setCursor(columnOf(event))}
        onPointerLeave={() => setCursor(undefined)}
        onBlur={() => setCursor(undefined)}
        onClick={(event) => open(columns[columnOf(event)])}
      >
        {width > 0 && (
          <Chart
            width={width}
            height={height}
            shown={shown}
            palette={palette}
            texts={texts}
            language={language}
            cursor={cursor}
          />
        )}
        {pointed !== undefined && (
          <Tooltip view={view} column={pointed} place={place(pointed)} width={width} />
        )}
      </div>
      <p class="hidden" aria-live="polite">
        {spoken}
      </p>
    </section>
  );
}

function target(key: string, cursor: number | undefined, count: number, peak: number): number | undefined {
  const page = pageOf(count);
  const within = (index: number): number => Math.max(0, Math.min(count - 1, index));
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: (cursor ?? peak + 1) - 1,
    ArrowRight: (cursor ?? peak - 1) + 1,
    PageUp: (cursor ?? peak) - page,
    PageDown: (cursor ?? peak) + page,
    Home: 0,
    End: count - 1,
    p: peak,
    P: peak,
  };
  const next = moves[key];
  return next === undefined || count === 0 ? undefined : within(next);
}

/** A moment in words, for who cannot see it. */
function sentence(column: Column | undefined, { texts }: View, shown: TimelineShown): string {
  if (column === undefined) return "";
  const { moment, total } = column;
  const place = moment.place === null ? undefined : shown.places[moment.place];
  const parts = [
    formatBytes(total),
    texts[moment.phase],
    moment.isRecomputed ? texts.recomputed : "",
    moment.operator,
    moment.modulePath,
    place === undefined ? "" : fill(texts.line, place.line + 1),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The kinds that appear, by colour. */
function Kinds({ columns, view }: { columns: readonly Column[]; view: View }) {
  const used = stackedKinds.filter((kind) => columns.some(({ moment }) => moment.bytes[kind] > 0));
  return (
    <ul class="kinds">
      {used.map((kind) => (
        <li key={kind} title={kind === "temporary" ? view.texts.temporaryMeans : undefined}>
          <Swatch colour={kindColours[kind]} />
          {view.texts[kind]}
        </li>
      ))}
    </ul>
  );
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(Math.floor(box.current?.clientWidth ?? 0)), []);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
