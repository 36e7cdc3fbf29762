/** Our own requests: the whole workspace checked, with progress, and what was found taken back. */

export interface ScanParams {
  /** Where progress is told, in the protocol's way. */
  readonly workDoneToken?: string | number;
}

export interface ScanAnswer {
  /** Files that were looked at, and those that were to be. */
  readonly checked: number;
  readonly files: number;
  readonly findings: number;
  readonly filesWithFindings: number;
  /** Files that could not be read; the log says why. */
  readonly unread: number;
  readonly isCancelled: boolean;
}

/** Answers `null` where there is no folder or no disk. A cancelled scan answers what it came to. */
export const scanMethod = "vramlint/scanWorkspace";
/** No parameters; the findings of files that are not open go, and files are no longer followed. */
export const clearScanMethod = "vramlint/clearScan";
