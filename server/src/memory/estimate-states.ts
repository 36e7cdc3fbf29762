/** Model states: parameters, buffers, gradients and optimizer state, whole and as one device holds them. */
import { message, type Message } from "../messages/message";
import { unknownReasons } from "../messages/estimate";
import type { States } from "./estimate-peak";
import { repeatedBlocks, tensorsOf } from "./evaluate/nn/state";
import type { ObjectValue } from "./evaluate/values";
import { optimizerNeeds, type OptimizerNeeds } from "./optimizers";
import type { TrainingSetup } from "./setup";
import { shardStates } from "./sharding";
import { dtypeBytes, elementCount, type Tensor } from "./tensor";

export interface ModelStates extends States {
  /** Bytes in the host's memory for each device, of states that are offloaded. */
  readonly host: number;
  readonly count: number;
  readonly trainable: number;
  /** Undefined when the run does not train, or when neither header nor script names an optimizer we know. */
  readonly needs: OptimizerNeeds | undefined;
  /** The optimizer is named but not known. */
  readonly fault: Message | undefined;
}

/** Bytes of the distinct storages. */
function storageBytes(tensors: readonly Tensor[]): number {
  let bytes = 0;
  for (const storage of new Set(tensors.map((tensor) => tensor.storage))) bytes += storage.bytes;
  return bytes;
}

function count(tensors: readonly Tensor[]): number {
  return tensors.reduce((total, tensor) => total + elementCount(tensor.shape), 0);
}

function ownBytes(tensors: readonly Tensor[]): number {
  return tensors.reduce((bytes, tensor) => bytes + elementCount(tensor.shape) * dtypeBytes[tensor.dtype], 0);
}

/** What a backward left behind: bytes of gradients and the parameters that got one. */
export interface LeftGradients {
  readonly gradients: number;
  readonly stepped: readonly Tensor[];
}

/** The states of a built model. Without `left`, every trainable parameter is taken to get a gradient. */
export function statesOf(model: ObjectValue, setup: TrainingSetup, left?: LeftGradients): ModelStates {
  const parameters = tensorsOf(model, "parameters");
  const trainable = parameters.filter((tensor) => tensor.requiresGrad);
  const isTraining = (setup.mode?.value ?? "train") === "train";
  const setting = isTraining ? setup.optimizer?.value : undefined;
  // a parameter that gets no gradient gets no state either
  const needs = setting === undefined ? undefined : optimizerNeeds(setting, left?.stepped ?? trainable);
  const whole = {
    parameters: storageBytes(parameters),
    buffers: storageBytes(tensorsOf(model, "buffers")),
    gradients: isTraining ? (left?.gradients ?? ownBytes(trainable)) : 0,
    optimizer: needs?.state ?? 0,
  };
  const [sharding, devices] = [setup.shard?.value ?? "none", setup.devices?.value ?? 1];
  const offload = setup.offload?.value ?? "none";
  const { device, host } = shardStates(
    {
      ...whole,
      trainable: ownBytes(trainable),
      largestUnit: largestUnit(model, whole.parameters),
      gradientElement: trainable[0] === undefined ? 4 : dtypeBytes[trainable[0].dtype],
    },
    sharding,
    devices,
    offload,
  );
  const fault =
    setting === undefined || needs !== undefined
      ? undefined
      : message(unknownReasons.optimizer, { name: setting.name });
  return {
    whole,
    device,
    host,
    isShared: (sharding !== "none" && devices > 1) || offload !== "none",
    count: count(parameters),
    trainable: count(trainable),
    needs,
    fault,
  };
}

/** Parameters of the largest repeated block: what FSDP and ZeRO-3 gather at once. The whole model when none repeats. */
function largestUnit(model: ObjectValue, whole: number): number {
  let largest = 0;
  for (const block of repeatedBlocks(model)) {
    largest = Math.max(largest, storageBytes(tensorsOf(block, "parameters")));
  }
  return largest === 0 ? whole : largest;
}
