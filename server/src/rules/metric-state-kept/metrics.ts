/** Metrics of torchmetrics, and which of them keep all that they are given. */
import { keyword } from "../../python/keyword";
import type { Call, Expression } from "../../python/tree";
import { words } from "../../torch/api-words";
import type { Resolver } from "../../torch/resolve";

/** Wrappers that begin anew by themselves, or hold others that are reset one by one. */
const wrappers = words(
  "MetricTracker Running RunningMean RunningSum BootStrapper MultitaskWrapper ClasswiseWrapper",
);

/** The canonical name of a metric's class. */
export function isMetric(qualifiedName: string): boolean {
  const name = /^torchmetrics\.(?!functional\b)(?:\w+\.)*([A-Z]\w*)$/.exec(qualifiedName)?.[1];
  return name !== undefined && !wrappers.has(name);
}

/** Their states are lists of predictions and targets, whatever their arguments (`add_state(…, default=[])`). */
const lists = words(`
  CatMetric SpearmanCorrCoef KendallRankCorrCoef CosineSimilarity CalibrationError BinaryCalibrationError
  MulticlassCalibrationError KernelInceptionDistance InceptionScore MeanAveragePrecision IntersectionOverUnion
  GeneralizedIntersectionOverUnion CompleteIntersectionOverUnion DistanceIntersectionOverUnion BERTScore InfoLM
  SpectralDistortionIndex ErrorRelativeGlobalDimensionlessSynthesis RelativeAverageSpectralError`);

/** Curves keep them unless they are given thresholds (torchmetrics/classification/precision_recall_curve.py). */
const curves =
  /^(Binary|Multiclass|Multilabel)?(AUROC|ROC|AveragePrecision|PrecisionRecallCurve|PrecisionAtFixedRecall|RecallAtFixedPrecision|SpecificityAtSensitivity|SensitivityAtSpecificity)$/;

/**
 * The construction of the metric that a call of `clone` copies: `metrics.clone(prefix="val/")`
 * (torchmetrics/collections.py, `MetricCollection.clone`; the states are those of the copy alone).
 */
export function clonedMetric(resolve: Resolver, { callee }: Call): Call | undefined {
  if (callee.kind !== "Attribute") return undefined;
  let original: Expression = callee.object;
  if (original.kind === "Name" || original.kind === "Attribute") {
    const [value, other] = resolve.valuesOf(original);
    if (value === undefined || other !== undefined) return undefined;
    original = value;
  }
  // `MetricCollection(…).to(device)`
  while (original.kind === "Call") {
    if (isMetric(resolve.qualifiedName(original.callee) ?? "")) return original;
    if (original.callee.kind !== "Attribute") return undefined;
    original = original.callee.object;
  }
  return undefined;
}

/** What a written-out `MetricCollection([…])` or `MetricCollection({…: …})` holds. */
function membersOf({ positional: [first] }: Call): readonly Expression[] {
  switch (first?.kind) {
    case "List":
    case "Tuple":
      return first.elements;
    case "Dict":
      return first.entries.map(({ value }) => value);
    default:
      return [];
  }
}

/** True for a metric that keeps every prediction on its device until it is reset. */
export function keepsPredictions(made: Call, resolve: Resolver): boolean {
  const name = resolve.qualifiedName(made.callee)?.split(".").at(-1) ?? "";
  if (name === "MetricCollection")
    return membersOf(made).some((member) => member.kind === "Call" && keepsPredictions(member, resolve));
  if (made.keywordSpreads.length > 0 || keyword(made, "compute_on_cpu") !== undefined) return false;
  if (lists.has(name) || /^Retrieval[A-Z]/.test(name)) return true;
  const thresholds = keyword(made, "thresholds");
  return curves.test(name) && (thresholds === undefined || thresholds.kind === "None");
}
