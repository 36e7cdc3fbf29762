/** What was not understood, what the figures rest on, and all moments as a table. */
import type { Reason, SourcePlace, TimelineShown } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { visibleColumns, visibleStep } from "./chart";
import { stackedKinds } from "./kinds";
import { fill } from "./scale";
import type { Actions, View } from "./view";

const mostReasons = 6;

export function Reasons({
  view,
  actions,
  reasons,
}: {
  view: View;
  actions: Actions;
  reasons: readonly Reason[];
}) {
  const more = reasons.length - mostReasons;
  return (
    <ul class="reasons">
      {reasons.slice(0, mostReasons).map(({ text, place }) => (
        <li key={`${place?.line ?? ""} ${text}`}>
          {place !== null && (
            <>
              <Line view={view} actions={actions} place={place} />{" "}
            </>
          )}
          <Ticked text={text} />
        </li>
      ))}
      {more > 0 && <li>{fill(view.texts.more, more)}</li>}
    </ul>
  );
}

/** Text with `code` between back ticks. */
export function Ticked({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

/** A line of the source that opens in the editor. */
export function Line({ view, actions, place }: { view: View; actions: Actions; place: SourcePlace }) {
  return (
    <button type="button" class="line" title={place.text} onClick={() => actions.open(place)}>
      {fill(view.texts.line, place.line + 1)}
    </button>
  );
}

export function Assumptions({
  view,
  actions,
  shown,
}: {
  view: View;
  actions: Actions;
  shown: TimelineShown;
}) {
  const origins = [...new Set(shown.assumptions.map(({ origin }) => origin))];
  return (
    <section class="assumptions" aria-labelledby="rests-on">
      <h2 id="rests-on">{view.texts.assumptions}</h2>
      <dl>
        {origins.map((origin) => (
          <div key={origin}>
            <dt>{origin}</dt>
            {shown.assumptions
              .filter((assumption) => assumption.origin === origin)
              .map(({ key, value, place }) => (
                <dd key={key}>
                  {place === null ? (
                    <code>{`${key}=${value}`}</code>
                  ) : (
                    <button
                      type="button"
                      class="line"
                      title={fill(view.texts.beforeCode, place.line + 1) + place.text}
                      onClick={() => actions.open(place)}
                    >
                      <code>{`${key}=${value}`}</code>
                    </button>
                  )}
                </dd>
              ))}
          </div>
        ))}
      </dl>
    </section>
  );
}

export function Moments({ view, actions, shown }: { view: View; actions: Actions; shown: TimelineShown }) {
  const { texts } = view;
  const columns = visibleColumns(shown);
  const step = visibleStep(shown);
  const kinds = stackedKinds.filter((kind) => columns.some(({ moment }) => moment.bytes[kind] > 0));
  const heads = [texts.moment, texts.phase, texts.operator, texts.layer, texts.sourceLine, texts.total];
  return (
    <div class="table" tabIndex={0} role="region" aria-label={texts.chart}>
      <table>
        <thead>
          <tr>
            {[...heads, ...kinds.map((kind) => texts[kind])].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map(({ moment, total }, i) => {
            const place = moment.place === null ? undefined : shown.places[moment.place];
            return (
              <tr key={moment.at} class={i === step.peak ? "peak" : ""}>
                <th scope="row">{moment.at + 1}</th>
                <td>{texts[moment.phase]}</td>
                <td>
                  <code>{moment.operator}</code>
                  {moment.isRecomputed && <span class="note"> {texts.recomputed}</span>}
                </td>
                <td>
                  <code>{moment.modulePath}</code>
                </td>
                <td>{place !== undefined && <Line view={view} actions={actions} place={place} />}</td>
                <td class="figure">{formatBytes(total)}</td>
                {kinds.map((kind) => (
                  <td key={kind} class="figure">
                    {formatBytes(moment.bytes[kind])}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
