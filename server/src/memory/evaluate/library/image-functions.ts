/**
 * `torchvision.transforms.functional`, and the parameters that random crops draw: by what they do to channels and size, like
 * the transforms. Sources: torchvision/transforms/{functional,transforms}.py.
 */
import type { Span } from "../../../python/tree";
import type { CallArguments } from "../arguments";
import type { Interpreter } from "../interpreter";
import { integer } from "../numbers";
import { DtypeValue, TupleValue, type Native, type Value } from "../values";
import {
  cropped,
  numbersIn,
  padded,
  pictureOfTensor,
  reshape,
  resized,
  tensorOfPicture,
  withChannels,
  withDtype,
  type Geometry,
} from "./images";

type Sizes = readonly (number | undefined)[];

/** The integers of an argument that is one or a sequence of them. */
function sizesOf(
  interpreter: Interpreter,
  args: CallArguments,
  index: number,
  name: string,
  span: Span | undefined,
): Sizes {
  return numbersIn(interpreter, args.or(index, name, null), span);
}

/** A function whose second argument, by its name, says what becomes of the size. */
function shaping(name: string, parameter: string, geometry: (sizes: Sizes) => Geometry): Native {
  return (interpreter, args, span) => {
    if (args.keywords.has("max_size")) return interpreter.unknown("call", span, { name });
    const sizes = sizesOf(interpreter, args, 1, parameter, span);
    return reshape(interpreter, args.or(0, "img", null), geometry(sizes), name, span);
  };
}

/** `crop(img, top, left, height, width)`. */
const crop: Native = (interpreter, args, span) => {
  const height = integer(args.or(3, "height", null));
  const width = integer(args.or(4, "width", null));
  const geometry: Geometry = () => ({ height, width });
  return reshape(interpreter, args.or(0, "img", null), geometry, "crop", span);
};

/** `resized_crop(img, top, left, height, width, size)`. */
const resizedCrop: Native = (interpreter, args, span) => {
  const geometry = resized(sizesOf(interpreter, args, 5, "size", span));
  return reshape(interpreter, crop(interpreter, args, span), geometry, "resized_crop", span);
};

const same: Native = (_, args) => args.or(0, "img", args.at(0) ?? null);

const rotate: Native = (interpreter, args, span) =>
  args.or(3, "expand", false) === false
    ? same(interpreter, args, span)
    : interpreter.unknown("call", span, { name: "rotate" });

const toGrayscale: Native = (interpreter, args, span) =>
  withChannels(interpreter, args.or(0, "img", null), integer(args.or(1, "num_output_channels", 1)), span);

const convertDtype: Native = (interpreter, args, span) =>
  withDtype(interpreter, args.or(0, "image", null), args.or(1, "dtype", new DtypeValue("float32")), span);

/** Those that leave size, channels and type as they are. */
const keepers = (
  "hflip vflip horizontal_flip vertical_flip normalize erase affine perspective gaussian_blur autocontrast equalize invert " +
  "posterize solarize elastic elastic_transform adjust_brightness adjust_contrast adjust_saturation adjust_hue adjust_gamma " +
  "adjust_sharpness gaussian_noise"
).split(" ");

const functions: Readonly<Record<string, Native>> = {
  resize: shaping("resize", "size", resized),
  center_crop: shaping("center_crop", "output_size", cropped),
  pad: shaping("pad", "padding", padded),
  crop,
  resized_crop: resizedCrop,
  rotate,
  ...Object.fromEntries(keepers.map((name) => [name, same])),
  to_tensor: tensorOfPicture("float32"),
  pil_to_tensor: tensorOfPicture("uint8"),
  to_image: tensorOfPicture("uint8"),
  to_pil_image: pictureOfTensor,
  to_grayscale: toGrayscale,
  rgb_to_grayscale: toGrayscale,
  convert_image_dtype: convertDtype,
  to_dtype: convertDtype,
};

/** `RandomCrop.get_params(img, output_size)`: top, left, height, width; where the crop lies only a run can know. */
const cropParameters: Native = (interpreter, args, span) => {
  const [height, width = height] = sizesOf(interpreter, args, 1, "output_size", span);
  return rectangle(interpreter, height, width, span);
};

/** `RandomResizedCrop.get_params(img, scale, ratio)` draws the size too. */
const anyRectangle: Native = (interpreter, _, span) => rectangle(interpreter, undefined, undefined, span);

function rectangle(
  interpreter: Interpreter,
  height: number | undefined,
  width: number | undefined,
  span: Span | undefined,
): Value {
  const drawn = interpreter.unknown("call", span, { name: "get_params" });
  return new TupleValue([drawn, drawn, height ?? drawn, width ?? drawn]);
}

const functionPackages = ["torchvision.transforms.functional", "torchvision.transforms.v2.functional"];
const classPackages = ["torchvision.transforms", "torchvision.transforms.v2"];

export const imageShapeFunctions: Readonly<Record<string, Native>> = Object.fromEntries([
  ...functionPackages.flatMap((root) =>
    Object.entries(functions).map(([name, native]) => [`${root}.${name}`, native] as const),
  ),
  ...classPackages.flatMap(
    (root) =>
      [
        [`${root}.RandomCrop.get_params`, cropParameters],
        [`${root}.RandomResizedCrop.get_params`, anyRectangle],
      ] as const,
  ),
]);
