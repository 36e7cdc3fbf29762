/** Model states: parameters, buffers, gradients and optimizer state, whole and as one device holds them. */
import { message, type Message } from "../../messages/message";
import { unknownReasons } from "../../messages/estimate";
import type { States } from "./peak";
import { namedTensors, repeatedBlocks, tensorsOf } from "../evaluate/nn/state";
import type { StepMeasure } from "../evaluate/step";
import type { ObjectValue } from "../evaluate/values";
import { needsOfSteps } from "../iteration-states";
import { optimizerNeeds, type OptimizerNeeds } from "../optimizers";
import type { OptimizerSetting, TrainingSetup } from "../setup";
import { shardStates, wholeParameters } from "../sharding";
import { dtypeBytes, elementCount, type Tensor } from "../tensor";

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

export function ownBytes(tensors: readonly Tensor[]): number {
  return tensors.reduce((bytes, tensor) => bytes + elementCount(tensor.shape) * dtypeBytes[tensor.dtype], 0);
}

/** What a backward left behind: bytes of gradients and the parameters that got one; of an iteration also its steps. */
export interface LeftGradients {
  readonly gradients: number;
  readonly stepped: readonly Tensor[];
  readonly steps?: StepMeasure["steps"];
  readonly ownState?: StepMeasure["ownState"];
}

/** What a built model holds, whatever the setup is. */
export interface HeldTensors {
  readonly model: ObjectValue;
  readonly parameters: readonly Tensor[];
  readonly trainable: readonly Tensor[];
  /** Bytes of the parameters and buffers, each storage once. */
  readonly parameterBytes: number;
  readonly bufferBytes: number;
  /** Bytes of the parameters that FSDP and ZeRO-3 gather at once. */
  readonly largestUnit: number;
}

export function heldBy(model: ObjectValue): HeldTensors {
  const parameters = tensorsOf(model, "parameters");
  const parameterBytes = storageBytes(parameters);
  return {
    model,
    parameters,
    trainable: parameters.filter((tensor) => tensor.requiresGrad),
    parameterBytes,
    bufferBytes: storageBytes(tensorsOf(model, "buffers")),
    largestUnit: largestUnit(model, parameterBytes),
  };
}

/** The states of a model that holds these tensors. Without `left`, every trainable parameter is taken to get a gradient. */
export function statesOf(held: HeldTensors, setup: TrainingSetup, left?: LeftGradients): ModelStates {
  const { parameters, trainable } = held;
  const isTraining = (setup.mode?.value ?? "train") === "train";
  const setting = isTraining ? setup.optimizer?.value : undefined;
  // a parameter that gets no gradient gets no state either
  const needs =
    left?.steps !== undefined && isTraining
      ? needsOfSteps(left, setup)
      : setting === undefined
        ? undefined
        : optimizerNeeds(setting, ofParts(held.model, left?.stepped ?? trainable, setting.parts));
  const whole = {
    parameters: held.parameterBytes,
    buffers: held.bufferBytes,
    gradients: isTraining ? (left?.gradients ?? ownBytes(trainable)) : 0,
    optimizer: (needs?.state ?? 0) + (left?.ownState?.bytes ?? 0),
  };
  const [sharding, devices] = [setup.shard?.value ?? "none", setup.devices?.value ?? 1];
  const offload = setup.offload?.value ?? "none";
  const { device, host } = shardStates(
    {
      ...whole,
      trainable: ownBytes(trainable),
      hasBucketViews: setup.bucketViews?.value ?? false,
      ...(sharding === "zero-redundancy" && setting !== undefined
        ? { fullestOptimizer: fullestState(parameters, left?.stepped ?? trainable, setting, devices) }
        : {}),
      largestUnit: held.largestUnit,
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
    isShared: isShared(setup),
    count: count(parameters),
    trainable: count(trainable),
    needs,
    fault,
  };
}

/** Bytes of optimizer state on the fullest device, where parameters go to devices as a whole. */
function fullestState(
  parameters: readonly Tensor[],
  stepped: readonly Tensor[],
  setting: OptimizerSetting,
  devices: number,
): number {
  const getsState = new Set(stepped);
  const shares = Array.from({ length: devices }, (): Tensor[] => []);
  const deviceOf = wholeParameters(
    parameters.map(({ shape }) => elementCount(shape)),
    devices,
  );
  parameters.forEach((tensor, i) => {
    if (getsState.has(tensor)) shares[deviceOf[i] ?? 0]?.push(tensor);
  });
  return Math.max(...shares.map((share) => optimizerNeeds(setting, share)?.state ?? 0));
}

/** Not all states are on the device in whole. */
export function isShared({ shard, devices, offload }: TrainingSetup): boolean {
  const isSharded = (shard?.value ?? "none") !== "none" && (devices?.value ?? 1) > 1;
  return isSharded || (offload?.value ?? "none") !== "none";
}

/** Those of the tensors that lie in one of the submodules; all of them in a model that has none of these. */
function ofParts(
  model: ObjectValue,
  tensors: readonly Tensor[],
  parts: readonly string[] | undefined,
): readonly Tensor[] {
  if (parts === undefined) return tensors;
  const own = new Set(
    namedTensors(model, "parameters", true, "", false)
      .filter(({ name }) => parts.some((part) => name.startsWith(`${part}.`)))
      .map(({ tensor }) => tensor),
  );
  return own.size === 0 ? tensors : tensors.filter((tensor) => own.has(tensor));
}

/** Parameters of the largest repeated block: what FSDP and ZeRO-3 gather at once. The whole model when none repeats. */
function largestUnit(model: ObjectValue, whole: number): number {
  let largest = 0;
  for (const block of repeatedBlocks(model)) {
    largest = Math.max(largest, storageBytes(tensorsOf(block, "parameters")));
  }
  return largest === 0 ? whole : largest;
}
