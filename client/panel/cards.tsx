/** The figures of the step at a glance; with changes, what they were. */
import type { ComponentChildren } from "preact";
import type { StepAnswer, TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { visibleStep } from "./chart";
import { kindColours } from "./kinds";
import { changeText, fill, percent } from "./scale";
import { Swatch } from "./swatch";
import type { View } from "./view";

interface CardProps {
  readonly label: ComponentChildren;
  readonly value: string;
  readonly note?: string | undefined;
  readonly isMain?: boolean;
  /** Worse than a limit allows. */
  readonly isOver?: boolean;
}

function Card({ label, value, note, isMain = false, isOver = false }: CardProps) {
  return (
    <div class={`card${isMain ? " main" : ""}${isOver ? " over" : ""}`}>
      <dt>{label}</dt>
      <dd>
        <span class="value">{value}</span>
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

export function Cards({ view, shown }: { view: View; shown: TimelineShown }) {
  const { texts, language } = view;
  const step = visibleStep(shown);
  const before = shown.changed === null ? undefined : shown.now;
  const bound = (bytes: number | null): string => {
    if (bytes === null) return texts.unknown;
    return step.complete ? formatBytes(bytes) : fill(texts.atLeast, formatBytes(bytes));
  };
  const was = (of: (step: StepAnswer) => number | null): string | undefined => {
    if (before === undefined) return undefined;
    const [old, now] = [of(before), of(step)];
    if (old === now) return texts.unchanged;
    if (old === null || now === null) return fill(texts.was, old === null ? texts.unknown : formatBytes(old));
    const change = changeText(old, now, language);
    return change === undefined
      ? fill(texts.was, formatBytes(old))
      : fill(texts.wasBy, formatBytes(old), change);
  };
  const kinds = ["parameters", "gradients", "optimizer", "saved"] as const;
  const limit = shown.budget ?? shown.device?.bytes;
  const share = limit === undefined ? undefined : percent(step.allocated / limit, language);
  const shareText = shown.budget === null ? texts.ofDevice : texts.ofBudget;
  const peakWas = was(({ allocated }) => allocated);
  const peakNotes = [peakWas, share === undefined ? undefined : fill(shareText, share)];
  return (
    <dl class="cards">
      <Card
        label={texts.peak}
        value={bound(step.allocated)}
        note={peakNotes.filter((note) => note !== undefined).join(" · ")}
        isMain
        isOver={limit !== undefined && step.allocated > limit}
      />
      <Card label={texts.onDevice} value={usageText(step, view)} note={deviceShare(step, shown, view)} />
      <Card label={texts.work} value={workText(step, view)} note={before && workWas(before, view)} />
      {kinds.map((kind) => (
        <Card
          key={kind}
          label={
            <>
              <Swatch colour={kindColours[kind]} />
              {texts[kind]}
            </>
          }
          value={bound(step[kind])}
          note={was((each) => each[kind])}
        />
      ))}
    </dl>
  );
}

function usageText({ usage }: StepAnswer, { texts }: View): string {
  const least = formatBytes(usage.least);
  if (usage.most === null) return fill(texts.orMore, least);
  const most = formatBytes(usage.most);
  const [figure = least, unit] = least.split(" ");
  return fill(texts.range, unit === most.split(" ")[1] ? figure : least, most);
}

function deviceShare({ usage }: StepAnswer, { device }: TimelineShown, view: View): string | undefined {
  if (device === null || usage.most === null) return undefined;
  return fill(view.texts.ofDevice, percent(usage.most / device.bytes, view.language));
}

/** What checkpoints compute again, as a share of the forward's own work. */
function workText({ work }: StepAnswer, { texts, language }: View): string {
  if (work === null) return texts.unknown;
  if (work.again === 0 || work.forward === 0) return texts.workNone;
  return `+${percent(work.again / work.forward, language)}`;
}

function workWas(before: StepAnswer, view: View): string {
  return fill(view.texts.was, workText(before, view));
}
