/** Behind the line that makes a layer of the trained model: how many parameters, and what it makes the graph keep. */
import type { LayerEstimate, ModelEstimate } from "../memory/estimate";
import { formatBytes } from "../memory/units";
import { hintTexts } from "../messages/editor";
import { message } from "../messages/message";
import type { Message } from "../messages/message";
import type { Source } from "../python/source";
import type { Analysed } from "./session";
import { textIn } from "./session";
import { layersMarkdown } from "./layer-text";

export interface LayerHint {
  readonly offset: number;
  readonly label: string;
  /** Markdown. */
  readonly tooltip: string;
}

export function layerHints({ unit, analysis, settings }: Analysed): LayerHint[] {
  const { setup } = analysis;
  const model = analysis.estimates.all()[0];
  if (model === undefined || model.notBuilt === true) return [];
  const { source } = unit.parsed();
  return [...byLine(model.layers ?? [], source)].map(([line, layers]) => ({
    offset: source.lineStart(line) + source.lineText(line).trimEnd().length,
    label: textIn(settings, labelOf(layers, model)),
    tooltip: layersMarkdown(layers, { language: settings.language, setup, model }),
  }));
}

/** By the line on which their construction ends; of several there only the outermost, which holds the others. */
function byLine(layers: readonly LayerEstimate[], source: Source): Map<number, LayerEstimate[]> {
  const found = new Map<number, LayerEstimate[]>();
  const length = ({ span }: LayerEstimate): number => span.end - span.start;
  for (const layer of layers) {
    const line = source.lineOf(layer.span.end);
    const [first] = found.get(line) ?? [];
    if (first === undefined || length(layer) > length(first)) found.set(line, [layer]);
    else if (layer.span.start === first.span.start && length(layer) === length(first))
      found.get(line)?.push(layer);
  }
  return found;
}

/** What only may have been kept is called a lower bound; what is not known is not spoken of. */
function labelOf(layers: readonly LayerEstimate[], model: ModelEstimate): Message {
  const parameters = layers.reduce((sum, layer) => sum + layer.parameters, 0);
  const ran = layers.flatMap((layer) => layer.ran ?? []);
  if (model.saved === null || ran.length === 0) return message(hintTexts.layer, { parameters });
  const saved = ran.reduce((sum, call) => sum + call.saved, 0);
  if (saved === 0 && model.complete) return message(hintTexts.layerKeepsNothing, { parameters });
  if (saved === 0) return message(hintTexts.layer, { parameters });
  const sign = model.complete ? "" : "≥ ";
  return message(hintTexts.layerKeeps, { parameters, size: `${sign}${formatBytes(saved)}` });
}
