/** The panel's texts in VS Code's language. `{0}` is filled in by the page. */
import * as vscode from "vscode";

export function panelTexts() {
  return {
    title: vscode.l10n.t("One training step of {0}"),
    waiting: vscode.l10n.t("Simulating the step …"),
    nothing: vscode.l10n.t("There is no step to show"),
    notOpen: vscode.l10n.t("The file is not open."),
    insertHeader: vscode.l10n.t("Insert Budget Header"),
    atLeast: vscode.l10n.t("at least {0}"),
    notUnderstood: vscode.l10n.t(
      "At least these figures: not all of the model is understood, and what is not counts nothing.",
    ),
    line: vscode.l10n.t("line {0}"),
    beforeCode: vscode.l10n.t("line {0}: "),
    more: vscode.l10n.t("and {0} more"),
    pin: vscode.l10n.t("Keep this file: do not follow the editor"),
    saveSvg: vscode.l10n.t("Save as SVG"),
    savePng: vscode.l10n.t("Save as PNG"),
    table: vscode.l10n.t("Table"),
    hideTable: vscode.l10n.t("Hide the table"),
    // Cards.
    peak: vscode.l10n.t("Peak"),
    peakIs: vscode.l10n.t("Peak: {0}"),
    onDevice: vscode.l10n.t("On the device, about"),
    range: vscode.l10n.t("{0} – {1}"),
    orMore: vscode.l10n.t("{0} or more"),
    was: vscode.l10n.t("was {0}"),
    wasBy: vscode.l10n.t("was {0}, {1}"),
    unchanged: vscode.l10n.t("unchanged"),
    ofBudget: vscode.l10n.t("{0} of the budget"),
    ofDevice: vscode.l10n.t("{0} of the device"),
    work: vscode.l10n.t("Extra forward work"),
    workNone: vscode.l10n.t("none"),
    // Kinds.
    parameters: vscode.l10n.t("Parameters"),
    buffers: vscode.l10n.t("Buffers"),
    optimizer: vscode.l10n.t("Optimizer state"),
    gradients: vscode.l10n.t("Gradients"),
    inputs: vscode.l10n.t("Inputs"),
    saved: vscode.l10n.t("Saved activations"),
    temporary: vscode.l10n.t("Temporary"),
    temporaryMeans: vscode.l10n.t(
      "What only running operators and Python variables hold, such as the output and the loss of the step before.",
    ),
    other: vscode.l10n.t("Workspaces and rounding"),
    total: vscode.l10n.t("Total"),
    // Phases.
    forward: vscode.l10n.t("Forward"),
    backward: vscode.l10n.t("Backward"),
    step: vscode.l10n.t("Step"),
    recomputed: vscode.l10n.t("computed again"),
    // Chart.
    chart: vscode.l10n.t("Memory along the step"),
    chartHelp: vscode.l10n.t(
      "Left and right arrow move along the step, Page Up and Page Down faster, Home and End to its ends, P to the peak; Enter opens the line, Escape leaves.",
    ),
    axis: vscode.l10n.t("allocations in order of execution, not to scale in time"),
    thinned: vscode.l10n.t("{0} of {1} moments, with every peak"),
    budget: vscode.l10n.t("Budget {0}"),
    device: vscode.l10n.t("Device {0}"),
    above: vscode.l10n.t("{0}, above the picture"),
    asIs: vscode.l10n.t("As written: {0}"),
    peakIn: vscode.l10n.t("Peak {0} · {1}"),
    openLine: vscode.l10n.t("Click or Enter opens the line"),
    // Controls.
    whatIf: vscode.l10n.t("What if"),
    reset: vscode.l10n.t("As Written"),
    microBatch: vscode.l10n.t("Micro-batch"),
    recompute: vscode.l10n.t("Recompute"),
    blocks: vscode.l10n.t("{0} / {1} blocks"),
    blocksOf: vscode.l10n.t("{0} / {1} {2}"),
    precision: vscode.l10n.t("Precision"),
    optimizerName: vscode.l10n.t("Optimizer"),
    unknown: vscode.l10n.t("unknown"),
    simulated: vscode.l10n.t("simulated in {0} ms"),
    cannotChange: vscode.l10n.t("With these changes there is no step to show."),
    // Table and assumptions.
    assumptions: vscode.l10n.t("What this rests on"),
    moment: vscode.l10n.t("Moment"),
    phase: vscode.l10n.t("Phase"),
    operator: vscode.l10n.t("Operator"),
    layer: vscode.l10n.t("Layer"),
    sourceLine: vscode.l10n.t("Line"),
  };
}

export type PanelTexts = ReturnType<typeof panelTexts>;
