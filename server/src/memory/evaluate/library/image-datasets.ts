/**
 * The datasets of torchvision by what one sample is: a picture and a target. Source: torchvision/datasets/*.py and the
 * datasets' own descriptions; where pictures differ in size, the size is not known.
 */
import type { Span } from "../../../python/tree";
import { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { itemsOf } from "../iteration";
import { isUnknown } from "../../unknown";
import { integer } from "../numbers";
import { ObjectValue, TupleValue, type Native, type Value } from "../values";
import { libraryClass, libraryObject } from "./library-class";
import { imageOf } from "./images";

interface ImageDataset {
  /** Channels, height and width of its pictures, 0 where they differ. */
  readonly picture: readonly [channels: number, height: number, width: number];
  /** The position of `transform`; `target_transform` follows. Undefined: by keyword only. */
  readonly transformAt: number | undefined;
  /** A class number unless said otherwise. */
  readonly target?: "other";
}

const mnist: ImageDataset = { picture: [1, 28, 28], transformAt: 2 };
const cifar: ImageDataset = { picture: [3, 32, 32], transformAt: 2 };
const photographs = (transformAt: number | undefined): ImageDataset => ({ picture: [3, 0, 0], transformAt });

const datasets: Readonly<Record<string, ImageDataset>> = {
  MNIST: mnist,
  FashionMNIST: mnist,
  KMNIST: mnist,
  EMNIST: { ...mnist, transformAt: undefined },
  QMNIST: { ...mnist, transformAt: undefined },
  USPS: { picture: [1, 16, 16], transformAt: 2 },
  CIFAR10: cifar,
  CIFAR100: cifar,
  SVHN: { picture: [3, 32, 32], transformAt: 2 },
  STL10: { picture: [3, 96, 96], transformAt: 3 },
  EuroSAT: { picture: [3, 64, 64], transformAt: 1 },
  Omniglot: { picture: [1, 105, 105], transformAt: 2 },
  CelebA: { picture: [3, 218, 178], transformAt: 3, target: "other" },
  ImageFolder: photographs(1),
  ImageNet: photographs(undefined),
  Flowers102: photographs(2),
  Food101: photographs(2),
  DTD: photographs(3),
  OxfordIIITPet: { ...photographs(4), target: "other" },
  StanfordCars: photographs(2),
  FGVCAircraft: photographs(3),
  GTSRB: photographs(2),
  Country211: photographs(2),
  Places365: photographs(4),
};

const dataset = libraryClass("VisionDataset", {
  __getitem__: (interpreter, args, span) => {
    const self = args.at(0);
    if (!(self instanceof ObjectValue)) return interpreter.unknown("call", span, { name: "Dataset" });
    const read = (name: string): Value => self.attributes.get(name) ?? null;
    return new TupleValue([
      transformed(interpreter, read("transform"), read(" picture"), span),
      transformed(interpreter, read("target_transform"), read(" target"), span),
    ]);
  },
});

function transformed(
  interpreter: Interpreter,
  transform: Value,
  value: Value,
  span: Span | undefined,
): Value {
  return transform === null ? value : interpreter.call(transform, new CallArguments([value]), span);
}

/** A dataset object whose samples are such pictures. */
function make(
  interpreter: Interpreter,
  picture: readonly (number | undefined)[],
  given: { readonly transform: Value; readonly targetTransform: Value; readonly target: Value },
): ObjectValue {
  const [channels, height, width] = picture.map((size) => (size === 0 ? undefined : size));
  return libraryObject(interpreter, dataset, {
    " picture": imageOf(interpreter, { channels, height, width }),
    " target": given.target,
    transform: given.transform,
    target_transform: given.targetTransform,
  });
}

function constructor(name: string, { picture, transformAt, target }: ImageDataset): Native {
  return (interpreter, args, span) => {
    const missing = args.unknownKeywords;
    if (missing !== undefined) return missing;
    // `transforms` takes picture and target together.
    if (args.keywords.get("transforms") !== undefined) return interpreter.unknown("call", span, { name });
    const at = (index: number | undefined, keyword: string): Value =>
      index === undefined ? (args.keywords.get(keyword) ?? null) : args.or(index, keyword, null);
    return make(interpreter, picture, {
      transform: at(transformAt, "transform"),
      targetTransform: at(transformAt === undefined ? undefined : transformAt + 1, "target_transform"),
      target: target === "other" ? interpreter.unknown("call", span, { name }) : 0,
    });
  };
}

/** `FakeData(size, image_size, num_classes, transform)`. */
const fakeData: Native = (interpreter, args, span) => {
  const sizes = itemsOf(interpreter, args.or(1, "image_size", new TupleValue([3, 224, 224])), span);
  if (isUnknown(sizes)) return sizes;
  return make(
    interpreter,
    sizes.map((size) => integer(size)),
    {
      transform: args.or(3, "transform", null),
      targetTransform: args.or(4, "target_transform", null),
      target: 0,
    },
  );
};

export const imageDatasetFunctions: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(
    Object.entries(datasets).map(([name, description]) => [
      `torchvision.datasets.${name}`,
      constructor(name, description),
    ]),
  ),
  "torchvision.datasets.FakeData": fakeData,
};
