/** What is in memory in the moment that is pointed at, and whose doing it is. */
import type { SourcePlace } from "../../server/src/lsp/timeline-request";
import { formatBytes } from "../../server/src/memory/units";
import { plotOf } from "./chart";
import { kindColours, stackedKinds } from "./kinds";
import { fill } from "./scale";
import type { Column } from "./series";
import { Swatch } from "./swatch";
import type { View } from "./view";

export function Tooltip({
  view,
  column,
  place,
  width,
}: {
  view: View;
  column: Column;
  place: SourcePlace | undefined;
  width: number;
}) {
  const { texts } = view;
  const { moment, total } = column;
  const { left, right } = plotOf(width);
  const x = left + column.from * (right - left);
  const isRight = x > width / 2;
  const style = isRight ? { right: `${width - x + 14}px` } : { left: `${x + 14}px` };
  const kinds = stackedKinds.filter((kind) => moment.bytes[kind] > 0).reverse();
  return (
    <div class="tooltip" style={{ ...style, top: "30px" }} aria-hidden="true">
      <p class="operator">{moment.operator}</p>
      <p class="note">
        {texts[moment.phase]}
        {moment.isRecomputed && ` · ${texts.recomputed}`}
      </p>
      {moment.modulePath !== "" && (
        <p>
          <code>{moment.modulePath}</code>
          {moment.layer !== "" && <span class="note"> {moment.layer}</span>}
        </p>
      )}
      {place !== undefined && (
        <p class="source">
          <span class="note">{fill(texts.beforeCode, place.line + 1)}</span>
          <code>{place.text}</code>
        </p>
      )}
      <table>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <th>
                <Swatch colour={kindColours[kind]} />
                {texts[kind]}
              </th>
              <td>{formatBytes(moment.bytes[kind])}</td>
            </tr>
          ))}
          <tr class="total">
            <th>{texts.total}</th>
            <td>{formatBytes(total)}</td>
          </tr>
        </tbody>
      </table>
      {place !== undefined && <p class="note">{texts.openLine}</p>}
    </div>
  );
}
