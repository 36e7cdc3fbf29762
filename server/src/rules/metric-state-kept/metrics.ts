/** Metrics of torchmetrics, and which of them keep all that they are given. */
import { keyword } from "../../python/keyword";
import type { Call } from "../../python/tree";
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

/** True for a metric that keeps every prediction on its device until it is reset. */
export function keepsPredictions(made: Call, resolve: Resolver): boolean {
  const name = resolve.qualifiedName(made.callee)?.split(".").at(-1) ?? "";
  if (made.keywordSpreads.length > 0 || keyword(made, "compute_on_cpu") !== undefined) return false;
  if (lists.has(name) || /^Retrieval[A-Z]/.test(name)) return true;
  const thresholds = keyword(made, "thresholds");
  return curves.test(name) && (thresholds === undefined || thresholds.kind === "None");
}
