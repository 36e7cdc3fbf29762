/** The whole panel. */
import type { ComponentChildren } from "preact";
import type { TimelineNothing, TimelineShown } from "../../server/src/lsp/timeline-request";
import { Cards } from "./cards";
import { visibleStep } from "./chart";
import { ChartArea } from "./chart-area";
import { Controls } from "./controls";
import { Assumptions, Moments, Reasons } from "./details";
import { fill } from "./scale";
import type { Actions, View } from "./view";

export function Panel({ view, actions }: { view: View; actions: Actions }) {
  const { answer, texts } = view;
  if (answer === undefined) return <p class="waiting">{texts.waiting}</p>;
  if (answer === null) return <Nothing view={view} actions={actions} answer={undefined} />;
  if (answer.kind === "nothing") return <Nothing view={view} actions={actions} answer={answer} />;
  return <Timeline view={view} actions={actions} shown={answer} />;
}

function Nothing({
  view,
  actions,
  answer,
}: {
  view: View;
  actions: Actions;
  answer: TimelineNothing | undefined;
}) {
  const { texts } = view;
  const reasons = answer?.reasons ?? [{ text: texts.notOpen, place: null }];
  return (
    <div class="nothing">
      <Head view={view} actions={actions} title={texts.nothing} />
      <Reasons view={view} actions={actions} reasons={reasons} />
      {answer?.needsHeader === true && (
        <button type="button" class="primary" onClick={() => actions.insertHeader()}>
          {texts.insertHeader}
        </button>
      )}
    </div>
  );
}

function Timeline({ view, actions, shown }: { view: View; actions: Actions; shown: TimelineShown }) {
  const { texts, isTableShown } = view;
  const step = visibleStep(shown);
  return (
    <>
      <Head view={view} actions={actions} title={fill(texts.title, shown.model)}>
        <Tool label={texts.saveSvg} text="SVG" onClick={() => actions.save("svg")} />
        <Tool label={texts.savePng} text="PNG" onClick={() => actions.save("png")} />
      </Head>
      {!step.complete && (
        <section class="bound">
          <p>{texts.notUnderstood}</p>
          <Reasons view={view} actions={actions} reasons={step.reasons} />
        </section>
      )}
      <Cards view={view} shown={shown} />
      <Controls view={view} actions={actions} shown={shown} />
      <ChartArea view={view} actions={actions} shown={shown} />
      <p class="under">
        {step.moments.length < step.count && (
          <span class="note">{fill(texts.thinned, step.moments.length, step.count)}</span>
        )}
        <button
          type="button"
          class="quiet"
          aria-expanded={isTableShown}
          onClick={() => actions.showTable(!isTableShown)}
        >
          {isTableShown ? texts.hideTable : texts.table}
        </button>
      </p>
      {isTableShown && <Moments view={view} actions={actions} shown={shown} />}
      <Assumptions view={view} actions={actions} shown={shown} />
    </>
  );
}

function Head({
  view,
  actions,
  title,
  children,
}: {
  view: View;
  actions: Actions;
  title: string;
  children?: ComponentChildren;
}) {
  const { texts, file, uri, isPinned } = view;
  return (
    <header class="head">
      <div>
        <h1>{title}</h1>
        <button type="button" class="line" onClick={() => actions.open({ uri, line: 0, character: 0 })}>
          {file}
        </button>
      </div>
      <div class="tools">
        {children}
        <button
          type="button"
          class="tool"
          aria-pressed={isPinned}
          title={texts.pin}
          aria-label={texts.pin}
          onClick={() => actions.pin(!isPinned)}
        >
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <path
              d="M5.5 1.5h5M6.5 1.5v5L4 9.5h8L9.5 6.5v-5M8 9.5v5"
              fill="none"
              stroke="currentColor"
              stroke-width="1.2"
              stroke-linecap="round"
              stroke-linejoin="round"
            />
          </svg>
        </button>
      </div>
    </header>
  );
}

function Tool({ label, text, onClick }: { label: string; text: string; onClick: () => void }) {
  return (
    <button type="button" class="tool" title={label} aria-label={label} onClick={onClick}>
      {text}
    </button>
  );
}
