/** Our own notification: the Python that runs the scripts, whose installed packages are read for the estimates. */

export interface InterpreterParams {
  /** An interpreter or an environment's folder; absent where none is chosen. */
  readonly path?: string | undefined;
}

export const interpreterMethod = "vramlint/interpreter";
