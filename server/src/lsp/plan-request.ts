/** Our own request: the memory section of a training plan. */

export interface TrainingPlanParams {
  /** The script, the notebook or one of its cells. */
  readonly textDocument: { readonly uri: string };
}

export interface TrainingPlanAnswer {
  /** The section as Markdown, in the language of the findings. */
  readonly markdown: string;
}

/** Answers `null` for a document that is not analysed. */
export const trainingPlanMethod = "vramlint/trainingPlan";
