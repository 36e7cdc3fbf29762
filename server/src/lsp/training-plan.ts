/** Our own request: the memory section of a training plan, from the script as it is now. */
import { Utils, URI } from "vscode-uri";
import { trainingPlan } from "../analysis/training-plan";
import type { PlanSubject } from "../analysis/training-plan";
import { NotebookUnit } from "./notebook-unit";
import type { TrainingPlanAnswer, TrainingPlanParams } from "./plan-request";
import { analysisFor } from "./session";
import type { Analysed, Session } from "./session";

export async function planAnswer(
  session: Session,
  params: TrainingPlanParams,
): Promise<TrainingPlanAnswer | null> {
  const analysed = await analysisFor(session, params.textDocument.uri);
  if (analysed === undefined) return null;
  return { markdown: trainingPlan(subjectOf(analysed), analysed.settings.language) };
}

function subjectOf({ unit, analysis }: Analysed): PlanSubject {
  const isNotebook = unit instanceof NotebookUnit;
  return {
    file: Utils.basename(URI.parse(unit.uri)),
    parsed: unit.parsed(),
    analysis,
    placeOf(span) {
      const place = unit.locate(span);
      if (place === undefined) return undefined;
      const line = place.range.start.line + 1;
      const cell = unit.segments.findIndex(({ uri }) => uri === place.uri) + 1;
      return isNotebook ? { line, cell } : { line };
    },
  };
}
