/** The calls that configure a framework's trainer, found once a file. */
import type { Call } from "../../python/tree";
import type { Resolver } from "../resolve";

export interface TrainerCalls {
  /** `TrainingArguments(…)`, `SFTConfig(…)`; `undefined` when there is none or more than one. */
  readonly arguments: Call | undefined;
  /** True when the file has several: no one of them is "the" setup. */
  readonly severalArguments: boolean;
  /** Lightning's `Trainer(…)` or `Fabric(…)`. */
  readonly lightning: Call | undefined;
  readonly accelerator: Call | undefined;
}

const trainingArguments =
  /^(transformers|trl|sentence_transformers|optimum|setfit)\.(\w+\.)*(\w*TrainingArguments|(SFT|DPO|GRPO|PPO|KTO|ORPO|CPO|Reward|RLOO|GKD|XPO|BCO|NashMD|OnlineDPO|PRM)Config)$/;
const lightningTrainer = /^lightning\.(pytorch|fabric)\.(\w+\.)*(Trainer|Fabric)$/;
const accelerator = /^accelerate\.(\w+\.)*Accelerator$/;

export function trainerCallsOf(resolver: Resolver): TrainerCalls {
  const named = (pattern: RegExp): readonly Call[] => resolver.callsOf((name) => pattern.test(name));
  const configured = named(trainingArguments);
  return {
    arguments: only(configured),
    severalArguments: configured.length > 1,
    lightning: only(named(lightningTrainer)),
    accelerator: only(named(accelerator)),
  };
}

function only(calls: readonly Call[]): Call | undefined {
  return calls.length === 1 ? calls[0] : undefined;
}
