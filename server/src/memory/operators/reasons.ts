/** Why an operator could not be followed. */
import { message, type Message } from "../../messages/message";
import type { Tensor } from "../tensor";

export function operatorNotKnown(operator: string): Message {
  return message(
    { en: "{operator} is not in the table of operators", "zh-cn": "算子表中没有 {operator}" },
    { operator },
  );
}

export function moduleNotKnown(name: string): Message {
  return message({ en: "{name} is not in the table of modules", "zh-cn": "模块表中没有 {name}" }, { name });
}

export function argumentNotUnderstood(operator: string, argument: string): Message {
  return message(
    {
      en: "the argument {argument} of {operator} is not understood",
      "zh-cn": "无法理解 {operator} 的参数 {argument}",
    },
    { operator, argument },
  );
}

export function argumentMissing(operator: string, argument: string): Message {
  return message(
    { en: "{operator} needs the argument {argument}", "zh-cn": "{operator} 缺少参数 {argument}" },
    { operator, argument },
  );
}

const unexpected = { en: "{operator} has no argument {argument}", "zh-cn": "{operator} 没有参数 {argument}" };

export function unexpectedArgument(operator: string, argument: string): Message {
  return message(unexpected, { operator, argument });
}

/** Whether the reason is that an argument was given that there is not: PyTorch raises a TypeError. */
export function isUnexpectedArgument(reason: Message): boolean {
  return reason.text === unexpected;
}

export function shapesDoNotFit(operator: string, shapes: readonly (readonly number[])[]): Message {
  return message(
    {
      en: "{operator}: the shapes {shapes} do not fit together",
      "zh-cn": "{operator}：形状 {shapes} 不匹配",
    },
    { operator, shapes: shapes.map(shapeText).join(", ") },
  );
}

export function shapeNotValid(operator: string, shape: readonly number[], asked: readonly number[]): Message {
  return message(
    {
      en: "{operator}: the shape {shape} cannot become {asked}",
      "zh-cn": "{operator}：形状 {shape} 不能变为 {asked}",
    },
    { operator, shape: shapeText(shape), asked: shapeText(asked) },
  );
}

export function dimensionOutOfRange(operator: string, dimension: number, shape: readonly number[]): Message {
  return message(
    {
      en: "{operator}: dimension {dimension} is out of range for the shape {shape}",
      "zh-cn": "{operator}：维度 {dimension} 超出形状 {shape} 的范围",
    },
    { operator, dimension, shape: shapeText(shape) },
  );
}

export function dependsOnValues(operator: string): Message {
  return message(
    {
      en: "the result of {operator} depends on the values of a tensor",
      "zh-cn": "{operator} 的结果取决于张量的值",
    },
    { operator },
  );
}

export function reserveNotKnown(operator: string): Message {
  return message(
    {
      en: "cuDNN keeps more for the backward of {operator} than is counted: the size of its reserve is not documented",
      "zh-cn": "cuDNN 为 {operator} 的反向保留的显存多于已计入的部分：其保留区的大小没有公开",
    },
    { operator },
  );
}

export function workspaceNotKnown(operator: string): Message {
  return message(
    {
      en: "{operator} and its gradient take more memory on their way than is counted",
      "zh-cn": "{operator} 及其梯度在计算过程中占用的显存多于已计入的部分",
    },
    { operator },
  );
}

export function conjugatedWhenUsed(operator: string): Message {
  return message(
    {
      en: "what {operator} makes is conjugated only where it is used, in copies that are not counted",
      "zh-cn": "{operator} 的结果在使用时才取共轭，由此产生的副本未计入",
    },
    { operator },
  );
}

export function channelsDoNotFit(operator: string, expected: number, tensor: Tensor): Message {
  return message(
    {
      en: "{operator} expects {expected} channels but gets the shape {shape}",
      "zh-cn": "{operator} 需要 {expected} 个通道，而输入形状为 {shape}",
    },
    { operator, expected, shape: shapeText(tensor.shape) },
  );
}

export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(", ")}]`;
}
