/**
 * What the trainers of transformers and trl do to the model that they are given: adapters, checkpointed layers, no cache.
 * Sources: transformers/trainer.py and training_args.py of 4.57 and 5.24, trl/trainer/{sft_trainer,base_config}.py of 1.16.
 */
import type { Span } from "../../../python/tree";
import { isUnknown } from "../../unknown";
import { CallArguments } from "../arguments";
import { findAttribute, setAttribute } from "../attributes";
import type { Interpreter } from "../interpreter";
import { keyText } from "../operations";
import { ClassValue, NativeFunction, ObjectValue, type Native, type Value } from "../values";
import { addAdapters } from "./adapters";
import { known } from "./pretrained-decorators";
import { majorVersion } from "./pretrained-forward";

const settingsType = new ClassValue("TrainingArguments", []);
settingsType.attributes.set(
  "__getattr__",
  new NativeFunction("__getattr__", (interpreter, args, span) =>
    interpreter.unknown("attribute", span, { name: keyText(args.at(1) ?? null), type: "TrainingArguments" }),
  ),
);

/** `TrainingArguments(…)`, `SFTConfig(…)`: what the call says; what it leaves out is not looked into. */
const makeSettings =
  (isTrl: boolean): Native =>
  (interpreter, args, span) => {
    if (args.unknownKeywords !== undefined) return args.unknownKeywords;
    const made = interpreter.references.keep(new ObjectValue(settingsType));
    for (const [name, value] of args.keywords) setAttribute(interpreter, made, name, value, span);
    // trl checkpoints unless it is told not to
    if (isTrl && !args.keywords.has("gradient_checkpointing"))
      made.attributes.set("gradient_checkpointing", true);
    return made;
  };

function call(
  interpreter: Interpreter,
  model: ObjectValue,
  name: string,
  args: Value[],
  span: Span | undefined,
): void {
  const method = interpreter.guard(() => findAttribute(interpreter, model, name, span) ?? null);
  if (method !== null && !isUnknown(method)) interpreter.call(method, new CallArguments(args), span);
}

/** `Trainer(model, args, …)`. Those of trl compute more than the model's own loss, which is not followed. */
const makeTrainer =
  (own: boolean): Native =>
  (interpreter, args, span) => {
    const model = args.or(0, "model", null);
    if (!(model instanceof ObjectValue) || model.module === undefined)
      return args.unknown() ?? interpreter.unknown("call", span, { name: "Trainer" });
    const adapters = args.keywords.get("peft_config") ?? null;
    if (adapters !== null) addAdapters(interpreter, new CallArguments([model, adapters]), span);
    const settings = args.or(1, "args", null);
    const read = (name: string): Value =>
      settings instanceof ObjectValue ? (settings.attributes.get(name) ?? null) : null;
    if (read("gradient_checkpointing") === true)
      call(
        interpreter,
        model,
        "gradient_checkpointing_enable",
        [read("gradient_checkpointing_kwargs")],
        span,
      );
    const configuration = known(interpreter, model, "config");
    if (majorVersion(interpreter) >= 5 && configuration instanceof ObjectValue)
      setAttribute(interpreter, configuration, "use_cache", read("use_cache") ?? false, span);
    if (!own) interpreter.note(interpreter.unknown("unsupported", span, { what: "compute_loss" }));
    interpreter.isTrainers = true;
    return interpreter.unknown("call", span, { name: "Trainer" });
  };

const others = "DPO GRPO PPO KTO ORPO CPO Reward RLOO GKD XPO BCO OnlineDPO PRM".split(" ");

export const trainerFunctions: Readonly<Record<string, Native>> = {
  "transformers.TrainingArguments": makeSettings(false),
  "transformers.Seq2SeqTrainingArguments": makeSettings(false),
  "transformers.Trainer": makeTrainer(true),
  "transformers.Seq2SeqTrainer": makeTrainer(true),
  "trl.SFTConfig": makeSettings(true),
  "trl.SFTTrainer": makeTrainer(false),
  ...Object.fromEntries(
    others.flatMap((name): [string, Native][] => [
      [`trl.${name}Config`, makeSettings(true)],
      [`trl.${name}Trainer`, makeTrainer(false)],
    ]),
  ),
};
