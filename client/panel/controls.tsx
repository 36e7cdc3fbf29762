/** What can be changed: every change is simulated in the server. */
import type { ComponentChildren } from "preact";
import type { Controls as Settings, TimelineShown } from "../../server/src/lsp/timeline-request";
import type { SetupChanges } from "../../server/src/memory/what-if";
import type { PanelTexts } from "../src/panel/texts";
import { batchChoices, fill } from "./scale";
import type { Actions, View } from "./view";

interface ControlProps {
  readonly view: View;
  readonly actions: Actions;
  readonly settings: Settings;
}

export function Controls({ view, actions, shown }: { view: View; actions: Actions; shown: TimelineShown }) {
  const { texts, changes } = view;
  const settings = shown.controls;
  const isChanged = Object.keys(changes).length > 0;
  const props = { view, actions, settings };
  return (
    <section class="controls" aria-labelledby="what-if">
      <header>
        <h2 id="what-if">{texts.whatIf}</h2>
        <span class="note" data-simulated>
          {fill(texts.simulated, Math.max(1, Math.round(shown.milliseconds)))}
        </span>
        <button type="button" class="quiet" disabled={!isChanged} onClick={() => actions.change({})}>
          {texts.reset}
        </button>
      </header>
      <div class="fields">
        <Batch {...props} />
        <Recompute {...props} />
        <Precision {...props} />
        <Optimizer {...props} />
      </div>
      {isChanged && shown.changed === null && <p class="warning">{texts.cannotChange}</p>}
    </section>
  );
}

/** `undefined` takes a change back. */
function changed<Key extends keyof SetupChanges>(
  changes: SetupChanges,
  key: Key,
  value: SetupChanges[Key],
): SetupChanges {
  const next: SetupChanges = { ...changes, [key]: value };
  if (value === undefined) Reflect.deleteProperty(next, key);
  return next;
}

function Field({
  label,
  id,
  value,
  unavailable,
  isChanged,
  children,
}: {
  label: string;
  id: string;
  value?: ComponentChildren;
  unavailable: string | null;
  isChanged: boolean;
  children: ComponentChildren;
}) {
  return (
    <div class={`field${isChanged ? " changed" : ""}`}>
      <div class="label">
        <label for={id}>{label}</label>
        {value}
      </div>
      {children}
      {unavailable !== null && (
        <p class="note" id={`${id}-why`}>
          {unavailable}
        </p>
      )}
    </div>
  );
}

function Batch({ view, actions, settings }: ControlProps) {
  const { texts, changes } = view;
  const { value: written, unavailable } = settings.batch;
  const value = changes.batch ?? written;
  const choices = [...new Set([...batchChoices(written), value])].sort((a, b) => a - b);
  const set = (batch: number): void => {
    if (!Number.isInteger(batch) || batch < 1) return;
    actions.change(changed(changes, "batch", batch === written ? undefined : batch));
  };
  const off = unavailable !== null;
  return (
    <Field
      label={texts.microBatch}
      id="batch"
      unavailable={unavailable}
      isChanged={changes.batch !== undefined}
      value={
        <input
          type="number"
          aria-label={texts.microBatch}
          min="1"
          max="1048576"
          value={value}
          disabled={off}
          onInput={(event) => set(event.currentTarget.valueAsNumber)}
        />
      }
    >
      <input
        id="batch"
        type="range"
        min="0"
        max={choices.length - 1}
        value={choices.indexOf(value)}
        disabled={off}
        aria-valuetext={String(value)}
        aria-describedby={off ? "batch-why" : undefined}
        onInput={(event) => set(choices[event.currentTarget.valueAsNumber] ?? value)}
      />
    </Field>
  );
}

/** `4 / 8 Block` */
export function blocksText(
  texts: PanelTexts,
  value: number,
  { count, className }: Settings["recompute"],
): string {
  return className === null
    ? fill(texts.blocks, value, count)
    : fill(texts.blocksOf, value, count, className);
}

function Recompute({ view, actions, settings }: ControlProps) {
  const { texts, changes } = view;
  const { count, value: written, unavailable } = settings.recompute;
  const value = changes.checkpointed ?? written;
  const text = blocksText(texts, value, settings.recompute);
  const off = unavailable !== null;
  return (
    <Field
      label={texts.recompute}
      id="recompute"
      unavailable={unavailable}
      isChanged={changes.checkpointed !== undefined}
      value={
        !off && (
          <output for="recompute" title={text}>
            {text}
          </output>
        )
      }
    >
      <input
        id="recompute"
        type="range"
        min="0"
        max={Math.max(1, count)}
        value={value}
        disabled={off}
        aria-valuetext={text}
        aria-describedby={off ? "recompute-why" : undefined}
        onInput={(event) => {
          const blocks = event.currentTarget.valueAsNumber;
          actions.change(changed(changes, "checkpointed", blocks === written ? undefined : blocks));
        }}
      />
    </Field>
  );
}

function Precision({ view, actions, settings }: ControlProps) {
  const { changes } = view;
  const { value: written, choices } = settings.precision;
  return (
    <Field
      label={view.texts.precision}
      id="precision"
      unavailable={null}
      isChanged={changes.precision !== undefined}
    >
      <select
        id="precision"
        value={changes.precision ?? written}
        onChange={(event) => {
          const precision = choices.find((choice) => choice === event.currentTarget.value);
          actions.change(changed(changes, "precision", precision === written ? undefined : precision));
        }}
      >
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </Field>
  );
}

function Optimizer({ view, actions, settings }: ControlProps) {
  const { changes, texts } = view;
  const { value: written, choices, unavailable } = settings.optimizer;
  return (
    <Field
      label={texts.optimizerName}
      id="optimizer"
      unavailable={unavailable}
      isChanged={changes.optimizer !== undefined}
    >
      <select
        id="optimizer"
        value={changes.optimizer ?? written}
        disabled={unavailable !== null}
        aria-describedby={unavailable === null ? undefined : "optimizer-why"}
        onChange={(event) => {
          const optimizer = event.currentTarget.value;
          actions.change(changed(changes, "optimizer", optimizer === written ? undefined : optimizer));
        }}
      >
        {written === "" && <option value="">{texts.unknown}</option>}
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </Field>
  );
}
