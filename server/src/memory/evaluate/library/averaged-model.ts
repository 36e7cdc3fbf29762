/** `torch.optim.swa_utils.AveragedModel`: a copy of the model whose weights follow it. Source: torch/optim/swa_utils.py. */
import { Tensor } from "../../tensor";
import { CallArguments } from "../arguments";
import { callOperator } from "../bridge";
import { deepCopy } from "../copying";
import type { Interpreter } from "../interpreter";
import { attach } from "../nn/attach";
import { ModuleState, tensorsOf } from "../nn/state";
import { ClassValue, NativeFunction, ObjectValue, type Native, type Value } from "../values";

function classOf(interpreter: Interpreter): ClassValue {
  const type = new ClassValue("AveragedModel", [interpreter.library.moduleClass]);
  type.attributes.set(
    "forward",
    new NativeFunction("forward", (inner, args, span) => {
      const self = args.at(0);
      const module = self instanceof ObjectValue ? self.module?.modules.get("module") : undefined;
      return inner.call(module ?? null, args.withoutFirst(), span);
    }),
  );
  type.attributes.set("update_parameters", new NativeFunction("update_parameters", update));
  return type;
}

/** The averages change in place, all in one kernel, unless the script gives a function that computes each. */
const update: Native = (interpreter, args, span) => {
  const [self, model] = [args.at(0), args.at(1)];
  const average = self instanceof ObjectValue ? (self.attributes.get("avg_fn") ?? null) : null;
  if (!(self instanceof ObjectValue) || !(model instanceof ObjectValue) || average === null) return null;
  const { references, execution } = interpreter;
  const current = tensorsOf(model, "parameters");
  execution.pushGradMode(false);
  tensorsOf(self, "parameters").forEach((averaged, i) => {
    const mark = references.mark();
    const count = self.module?.buffers.get("n_averaged") ?? null;
    const given = new CallArguments([averaged, current[i] ?? null, count]);
    const made = interpreter.call(average, given, span);
    if (made instanceof Tensor) callOperator(interpreter, "Tensor.copy_", [averaged, made]);
    references.releaseTo(mark);
  });
  execution.popGradMode();
  return null;
};

const make: Native = (interpreter, args) => {
  const model = args.or(0, "model", null);
  const self = new ObjectValue(classOf(interpreter));
  self.module = new ModuleState();
  interpreter.references.keep(self);
  const copied: Value = deepCopy(interpreter, model);
  if (!(copied instanceof ObjectValue)) return model;
  attach(interpreter, self, "modules", "module", copied);
  const count = interpreter.references.own(interpreter.execution.buffer([], "int64", "n_averaged"));
  attach(interpreter, self, "buffers", "n_averaged", count);
  const average = args.or(2, "avg_fn", null);
  interpreter.references.adopt(self, average);
  self.attributes.set("avg_fn", average);
  return self;
};

export const averagedModelFunctions: Readonly<Record<string, Native>> = {
  "torch.optim.swa_utils.AveragedModel": make,
  "torch.optim.swa_utils.get_ema_multi_avg_fn": () => null,
  "torch.optim.swa_utils.get_swa_multi_avg_fn": () => null,
};
