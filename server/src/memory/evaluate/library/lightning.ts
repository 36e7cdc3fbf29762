/**
 * Lightning's modules and data modules by what the trainer does with them before a training step. Sources:
 * lightning/pytorch/core/{module,datamodule}.py, trainer/trainer.py (`fit`), trainer/connectors/data_connector.py.
 */
import type { Call } from "../../../python/tree";
import { isUnknown, type Unknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute } from "../attributes";
import { evaluateArguments } from "../calls";
import type { Interpreter } from "../interpreter";
import { deviceOf } from "../nn/tensors";
import { callMethod } from "../overloads";
import { ClassValue, DictValue, FunctionValue, NativeFunction, ObjectValue, PropertyValue } from "../values";
import type { Native, Value } from "../values";
import { batchOf, isLoader } from "./batches";
import { libraryClass } from "./library-class";

const roots = "(lightning(\\.pytorch)?|pytorch_lightning)(\\.core)?(\\.(lightning|module|datamodule))?";
const moduleName = new RegExp(`^${roots}\\.LightningModule$`);
const dataModuleName = new RegExp(`^${roots}\\.LightningDataModule$`);

/** `save_hyperparameters()`: the arguments of the constructor that runs become `self.hparams`. */
const saveHyperparameters: Native = (interpreter, args) => {
  const object = args.at(0);
  if (!(object instanceof ObjectValue)) return null;
  const namespace = new ObjectValue(new ClassValue("AttributeDict", []));
  const values = new DictValue();
  for (const [name, value] of interpreter.frame.function.variables) {
    if (value === object || name.startsWith("__")) continue;
    namespace.attributes.set(name, value);
    values.entries.set(`s${name}`, { key: name, value });
  }
  namespace.payload = values;
  interpreter.references.adopt(object, namespace);
  object.attributes.set("hparams", namespace);
  return null;
};

const nothing: Native = () => null;

/** What a module has of Lightning itself; of anything else, such as `self.trainer`, nothing is known. */
function moduleClass(base: ClassValue): ClassValue {
  const type = new ClassValue("LightningModule", [base]);
  const methods: Readonly<Record<string, Native>> = {
    save_hyperparameters: saveHyperparameters,
    log: nothing,
    log_dict: nothing,
    print: nothing,
    all_gather: (_, args) => args.at(1) ?? null,
    __getattr__: (interpreter, args, span) => unknownMember(interpreter, args, span),
  };
  type.addMethods(methods);
  type.attributes.set("device", new PropertyValue(new NativeFunction("device", deviceOf)));
  for (const name of ["current_epoch", "global_step", "global_rank", "local_rank"])
    type.attributes.set(name, 0);
  return type;
}

/** Names that Lightning gives its modules beside those above. */
const furtherMembers =
  /^(trainer|logger|loggers|fabric|hparams|hparams_initial|optimizers|lr_schedulers|manual_backward|example_input_array|dtype|on_gpu|toggle_optimizer|untoggle_optimizer|clip_gradients|global_rank|automatic_optimization|strict_loading|truncated_bptt_steps)$/;

function unknownMember(interpreter: Interpreter, args: CallArguments, span: Parameters<Native>[2]): Value {
  const given = args.at(1);
  const name = typeof given === "string" ? given : "";
  if (furtherMembers.test(name))
    return interpreter.unknown("attribute", span, { name, type: "LightningModule" });
  return interpreter.raise("AttributeError", `no attribute '${name}'`, span);
}

/** The class at a path of Lightning's; undefined for other paths. */
export function lightningClass(path: string, moduleBase: ClassValue): ClassValue | undefined {
  if (moduleName.test(path)) return moduleClass(moduleBase);
  if (!dataModuleName.test(path)) return undefined;
  return libraryClass("LightningDataModule", {
    __init__: nothing,
    save_hyperparameters: saveHyperparameters,
  });
}

/** What `trainer.fit(model, train_dataloaders, val_dataloaders, datamodule)` calls `model.training_step` with. */
export function trainingStepArguments(interpreter: Interpreter, call: Call): CallArguments | Unknown {
  const args = evaluateArguments(interpreter, call);
  if (isUnknown(args)) return args;
  if (args.unknownKeywords !== undefined) return args.unknownKeywords;
  const model = args.or(0, "model", null);
  if (!(model instanceof ObjectValue))
    return isUnknown(model) ? model : interpreter.unknown("call", call, { name: "fit" });
  const batch = firstBatch(interpreter, model, args, call);
  return isUnknown(batch) ? batch : new CallArguments(withIndex(model, batch));
}

/** `training_step(batch)` or `training_step(batch, batch_idx)`. */
function withIndex(model: ObjectValue, batch: Value): Value[] {
  const step = model.type.attribute("training_step");
  const takesOne = step instanceof FunctionValue && step.node.parameters.length === 2;
  return takesOne ? [batch] : [batch, 0];
}

function firstBatch(interpreter: Interpreter, model: ObjectValue, args: CallArguments, call: Call): Value {
  let given = args.or(1, "train_dataloaders", args.keywords.get("train_dataloader") ?? null);
  const data = args.or(3, "datamodule", isDataModule(interpreter, given) ? given : null);
  if (isUnknown(data)) return data;
  prepared(interpreter, model, call);
  if (data !== null) given = loaderOf(interpreter, data, call);
  else if (given === null) given = loaderOf(interpreter, model, call);
  if (isUnknown(given)) return given;
  if (!isLoader(given)) return interpreter.unknown("call", call, { name: "train_dataloader" });
  return batchOf(interpreter, given, call);
}

function isDataModule(interpreter: Interpreter, value: Value): boolean {
  return (
    value instanceof ObjectValue &&
    findAttribute(interpreter, value, "train_dataloader", undefined) !== undefined &&
    !isLoader(value)
  );
}

/** `setup("fit")`, which every process runs; what `prepare_data` leaves is on the disk. */
function prepared(interpreter: Interpreter, owner: ObjectValue, call: Call): void {
  if (owner.type.attribute("setup") === undefined) return;
  const fault = interpreter.guard(() =>
    callMethod(interpreter, owner, "setup", new CallArguments([], new Map([["stage", "fit"]])), call),
  );
  if (fault !== undefined && isUnknown(fault)) interpreter.note(fault);
}

function loaderOf(interpreter: Interpreter, owner: Value, call: Call): Value {
  if (!(owner instanceof ObjectValue)) return interpreter.unknown("call", call, { name: "train_dataloader" });
  if (owner.module === undefined) prepared(interpreter, owner, call);
  const made = callMethod(interpreter, owner, "train_dataloader", [], call);
  return made ?? interpreter.unknown("call", call, { name: "train_dataloader" });
}
