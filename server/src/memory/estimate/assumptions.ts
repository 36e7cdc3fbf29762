/** What an estimate rests on, and where each part came from. */
import type { Span } from "../../python/tree";
import type { Assumption } from "../estimate";
import type { OptimizerNeeds } from "../optimizers";
import { plainSpan } from "./spans";
import type { Subject } from "./subject";
import { inputText, type Setting, type SettingOrigin, type TrainingSetup } from "../setup";

export interface Grounds {
  readonly subject: Subject;
  /** Whether a step was simulated: batch, loss and kernels matter then only. */
  readonly ran: boolean;
  readonly hasDerivedTarget: boolean;
  /** The step is the script's own iteration: it makes its inputs and its loss itself. */
  readonly isIteration: boolean;
  /** Attention kernels in order of call. */
  readonly attention: readonly string[];
  readonly optimizer: OptimizerNeeds | undefined;
  /** Decorators taken as transparent, packages taken as absent. */
  readonly assumed: ReadonlyMap<string, Span | undefined>;
}

function of<Value>(
  key: string,
  setting: Setting<Value> | undefined,
  otherwise: string,
  write: (value: Value) => string,
): Assumption {
  if (setting === undefined) return { key, value: otherwise, from: "default" };
  const span = setting.span === undefined ? {} : { span: plainSpan(setting.span) };
  return { key, value: write(setting.value), from: setting.from, ...span };
}

function plain(key: string, value: string, from: SettingOrigin, span?: Span): Assumption {
  return { key, value, from, ...(span === undefined ? {} : { span: plainSpan(span) }) };
}

export function assumptionsOf(setup: TrainingSetup, grounds: Grounds): Assumption[] {
  const { subject, ran } = grounds;
  const found: Assumption[] = [
    plain("model", subject.text, subject.from, subject.from === "default" ? undefined : subject.span),
  ];
  if (setup.args !== undefined) found.push(of("args", setup.args, "", (words) => words.join(" ")));
  found.push(of("precision", setup.precision, "fp32", String));
  if (setup.bucketViews !== undefined)
    found.push(
      of("gradient_as_bucket_view", setup.bucketViews, "False", (value) => (value ? "True" : "False")),
    );
  for (const key of ["shard", "devices", "offload"] as const) {
    if (setup[key] !== undefined) found.push(of<string | number>(key, setup[key], "", String));
  }
  if (setup.mode !== undefined) found.push(of("mode", setup.mode, "train", String));
  if (ran) {
    // Inputs of fixed sizes that a script makes say nothing of a micro-batch.
    if (setup.batch !== undefined || (setup.inputs?.from !== "script" && !grounds.isIteration))
      found.push(of("batch", setup.batch, "1", String));
    if (grounds.isIteration) found.push(of("iteration", setup.iteration, "", () => "training loop"));
    else if (setup.inputs?.from === "script") found.push(of("input", setup.inputs, "", inputText));
    if (setup.mode?.value !== "infer" && !grounds.isIteration)
      found.push(of("loss", setup.loss, "sum", String));
    if (grounds.hasDerivedTarget) found.push(plain("target", "like the output", "default"));
    const kernels = [...new Set(grounds.attention)];
    if (kernels.length > 0) found.push(of("attention", setup.attention, kernels.join("+"), String));
    if (setup.checkpoint !== undefined) {
      found.push(
        of("checkpoint", setup.checkpoint, "none", (value) =>
          typeof value === "object" ? value.join(" ") : String(value),
        ),
      );
    }
  }
  if (grounds.optimizer !== undefined) {
    const { name } = grounds.optimizer;
    const isTraced = grounds.isIteration && setup.optimizer?.from !== "header";
    found.push(
      isTraced ? plain("optimizer", name, "script") : of("optimizer", setup.optimizer, name, () => name),
    );
    const { kernel, isKernelAsked } = grounds.optimizer;
    const asked = isTraced
      ? plain("step", kernel, "script")
      : of("step", setup.optimizer, kernel, () => kernel);
    found.push(isKernelAsked ? asked : plain("step", kernel, "default"));
  }
  for (const [what, span] of grounds.assumed) {
    const [key = "", value = ""] = what.split(":");
    found.push(plain(key, value, "default", span));
  }
  return found;
}
