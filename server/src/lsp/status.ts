/** Our own notification: what became of a document, for the client's status item. */

export type DocumentState = "analysed" | "not-training" | "too-large" | "failed" | "disabled";

export interface StatusParams {
  /** Of the file or the notebook. */
  readonly uri: string;
  readonly state: DocumentState;
  readonly findings: number;
  /** Of the analysis, for the log. */
  readonly milliseconds: number;
}

export const statusMethod = "vramlint/status";
